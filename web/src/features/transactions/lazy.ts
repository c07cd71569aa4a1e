/** The parts of the list that are loaded on first use, in one file. */
export { BulkBar, TrialStrip } from "./BulkBar";
export { FilterSheet } from "./FilterSheet";
export { Ranges } from "./Ranges";
export { ViewDialog } from "./ViewDialog";
