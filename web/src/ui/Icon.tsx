import css from "./Icon.module.css";
import { type IconName, icons } from "./icons";

/** An icon beside text. Screen readers skip it. */
export function Icon({ name, small }: { name: IconName; small?: boolean }) {
  return (
    <svg className={small ? css.small : css.icon} viewBox="0 0 24 24" aria-hidden="true">
      <path d={icons[name]} />
    </svg>
  );
}

export function Logo() {
  return (
    <svg className={css.logo} viewBox="0 0 32 32" aria-hidden="true">
      <rect className={css.box} x="2.500" y="5" width="27" height="22" rx="5" />
      <path className={css.cut} d="M2.500 13.500h27" />
      <rect className={css.plate} x="11.500" y="9.500" width="9" height="10.500" rx="2.500" />
      <path
        className={css.hole}
        d="M16 12.500a1.700 1.700 0 0 1 .8 3.200l.4 2h-2.400l.4-2a1.700 1.700 0 0 1 .8-3.200z"
      />
    </svg>
  );
}
