/* global widgets, give, left, box, config, Plaid */
widgets.plaid = () => {
  const back = new URLSearchParams(location.search).has("oauth_state_id") ? { receivedRedirectUri: location.href } : {};
  const link = Plaid.create({
    token: config.token,
    ...back,
    onSuccess(token, about) {
      // Signing in again changes no credentials, so there is nothing to post.
      give(box.dataset.reauth ? {} : {
        public_token: token,
        institution: about.institution,
        accounts: (about.accounts || []).map((a) => ({ name: a.name, mask: a.mask })),
      });
    },
    onExit: left,
  });
  return () => link.open();
};
