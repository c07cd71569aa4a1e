declare module "virtual:messages" {
  /** How to load the texts, by language and part of the app. */
  const loaders: Record<string, Record<string, () => Promise<{ default: Record<string, never> }>>>;
  export default loaders;
}
