// The screens, by the routes of their links; `route` may be a list. `nav` names those of the
// navigation, `within` the one of these to which another belongs, `owner` those for the instance's
// owner. A module has `title()` and `mount(root, params)`, which returns what unmounts it (see
// router.js for `update`).

export const screens = [
  { route: ['deck', 'deck/at/:chat'], nav: 'deck', load: () => import('./deck.js') },
  { route: ['tape/:chat', 'tape/:chat/at/:entry'], within: 'deck', load: () => import('./tape.js') },
  { route: ['read/:chat', 'read/:chat/at/:entry'], load: () => import('./read.js') },
  { route: ['replay/:chat', 'replay/:chat/at/:at'], within: 'deck', load: () => import('./replay.js') },
  { route: ['why', 'why/in/:chat'], nav: 'why', load: () => import('./find.js') },
  { route: ['why/inbox/:id', 'why/entry/:chat/:entry'], within: 'why', load: () => import('./why.js') },
  { route: ['turn/:chat/:turn', 'turn/:chat/:turn/:at'], within: 'deck', load: () => import('./turn.js') },
  { route: 'ledger', nav: 'ledger', load: () => import('./ledger.js') },
  { route: 'channels', nav: 'channels', load: () => import('./channels.js') },
  { route: 'people', nav: 'people', load: () => import('./people.js') },
  { route: 'money', nav: 'money', load: () => import('./money.js') },
  { route: 'settings', nav: 'settings', owner: true, load: () => import('./settings.js') },
];
