import { expect, it } from "vitest";
import type { Endpoint, Notification } from "#/api/notifications";
import { deliveryStatus, endpointHint, hostOf, limits } from "./notificationWords";

const endpoint = (e: Partial<Endpoint>) =>
  ({ enabled: true, events: [], content: "lean", disabled_reason: null, ...e }) as Endpoint;

it("shows only the host of an address", () => {
  expect(hostOf(["https:", "", "ntfy.example:8443", "secret-topic?key=1"].join("/"))).toBe("ntfy.example:8443");
  expect(hostOf("ntfy.example")).toBe("ntfy.example");
});

it("says what an endpoint takes", () => {
  expect(endpointHint(endpoint({}))).toBe("All events");
  expect(endpointHint(endpoint({ events: ["sync.failed"], content: "full" }))).toBe(
    "Bank sync failed · includes bank names",
  );
  expect(endpointHint(endpoint({ enabled: false }))).toBe("Off");
  expect(endpointHint(endpoint({ enabled: false, disabled_reason: "gone" }))).toBe("Off: the receiver unsubscribed");
});

it("tells the worst of what became of a notification", () => {
  const notification = (...states: string[]) =>
    ({ deliveries: states.map((state) => ({ state, last_error: state === "failed" ? "no" : null })) }) as Notification;
  expect(deliveryStatus(notification()).word).toBe("No recipients");
  expect(deliveryStatus(notification("delivered", "pending")).word).toBe("Sending");
  expect(deliveryStatus(notification("delivered", "pending", "failed"))).toEqual({
    mood: "bad",
    word: "Failed",
    why: "no",
  });
  expect(deliveryStatus(notification("delivered")).word).toBe("Delivered");
});

it("changes the limit of one currency", () => {
  const dollars = { iso_currency_code: "USD", amount: 9 };
  expect(limits([dollars], "EUR", "499,50")).toEqual([dollars, { iso_currency_code: "EUR", amount: 499.5 }]);
  expect(limits([dollars, { iso_currency_code: "EUR", amount: 1 }], "EUR", "")).toEqual([dollars]);
});
