/* global widgets, give, left, say, config, TellerConnect */
widgets.teller = () => {
  const connect = TellerConnect.setup({
    ...config,
    onSuccess(e) {
      give({ access_token: e.accessToken, enrollment_id: e.enrollment.id, user_id: e.user ? e.user.id : "", signatures: e.signatures || [] });
    },
    onExit: left,
    onFailure: () => say("This did not work. Try again now or later."),
  });
  return () => connect.open();
};
