// The screens, by the routes of their links. `nav` names those of the navigation; the module has
// `title()` and `mount(root, params)`, which returns what unmounts it.

export const screens = [
  { route: 'deck', nav: 'deck', load: () => import('./deck.js') },
  { route: ['why/inbox/:id', 'why/entry/:chat/:entry'], load: () => import('./why.js') },
  { route: ['turn/:chat/:turn', 'turn/:chat/:turn/:at'], load: () => import('./turn.js') },
];
