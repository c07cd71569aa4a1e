import { i18n } from "@lingui/core";

// Tests see the English of the sources, whatever the language of the machine. No catalogue is loaded.
i18n.loadAndActivate({ locale: "en", messages: {} });
