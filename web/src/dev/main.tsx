import { CSPProvider } from "@base-ui/react/csp-provider";
import { i18n } from "@lingui/core";
import { I18nProvider } from "@lingui/react";
import { createRoot } from "react-dom/client";
import { Sheet } from "./Sheet";
import "#/ui/base.css";

i18n.loadAndActivate({ locale: "en", messages: {} });
const root = document.getElementById("root");
if (root)
  createRoot(root).render(
    <I18nProvider i18n={i18n}>
      <CSPProvider disableStyleElements>
        <Sheet />
      </CSPProvider>
    </I18nProvider>,
  );
