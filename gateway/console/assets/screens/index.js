// The screens, by the routes of their links. `nav` names those of the navigation; the module has
// `title()` and `mount(root, params)`, which returns what unmounts it.

export const screens = [
  { route: 'deck', nav: 'deck', load: () => import('./deck.js') },
  { route: ['tape/:chat', 'tape/:chat/at/:entry'], load: () => import('./tape.js') },
  { route: ['replay/:chat', 'replay/:chat/at/:at'], load: () => import('./replay.js') },
];
