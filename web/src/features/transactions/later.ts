/** What the list shows only when somebody asks for it, in one file to load. */
export { BulkBar, TrialStrip } from "./BulkBar";
export { FilterSheet } from "./FilterSheet";
export { Ranges } from "./Ranges";
export { ViewDialog } from "./ViewDialog";
