import { CSPProvider } from "@base-ui/react/csp-provider";
import { createRoot } from "react-dom/client";
import { Sheet } from "./Sheet";
import "#/ui/tokens.css";
import "#/ui/base.css";

const root = document.getElementById("root");
if (root)
  createRoot(root).render(
    <CSPProvider disableStyleElements>
      <Sheet />
    </CSPProvider>,
  );
