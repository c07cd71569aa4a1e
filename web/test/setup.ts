import { i18n } from "@lingui/core";

// Tests see the English texts of the sources, in any language of the machine. No catalogue is loaded.
i18n.loadAndActivate({ locale: "en", messages: {} });
