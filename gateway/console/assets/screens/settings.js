// The settings in force, and where each comes from; a model and tokens are set here.

import { coded, make } from '../dom.js';
import { follow, section } from '../screen.js';
import { addWords, t } from '../words.js';
import { settingForms } from './setting-forms.js';

addWords({
  en: {
    'settings.title': 'Settings', 'settings.find': 'Find a setting', 'settings.changed': 'Only what is set', 'settings.general': 'general', 'settings.none': 'No setting fits.', 'settings.in-force': 'In force',
    'from.environment': 'from the environment: change it there', 'from.env-file': 'from {0}', 'from.secrets': 'from the secrets in {0}', 'from.toml': 'from {0}', 'from.default': 'default',
  },
  zh: {
    'settings.title': '设置', 'settings.find': '查找设置', 'settings.changed': '仅显示已设置的', 'settings.general': '常规', 'settings.none': '没有匹配的设置。', 'settings.in-force': '当前生效',
    'from.environment': '来自环境变量：请在那里更改', 'from.env-file': '来自 {0}', 'from.secrets': '来自 {0} 中的机密', 'from.toml': '来自 {0}', 'from.default': '默认',
  },
});

export const title = () => t('settings.title');

export function mount(root) {
  const { root: place, note } = section(t('settings.title'), 'settings');
  const find = make('input', { id: 'settings-find', type: 'search', autocomplete: 'off', spellcheck: 'false', oninput: () => show() });
  const changed = make('input', { id: 'settings-changed', type: 'checkbox', onchange: () => show() });
  const list = make('div');
  const forms = settingForms(() => followed.refresh());
  place.append(forms.root, make('section', { class: 'group' }, make('h2', {}, t('settings.in-force')), make('div', { class: 'fields' },
    make('p', { class: 'field' }, make('label', { for: find.id }, t('settings.find')), find),
    make('p', { class: 'field check' }, changed, make('label', { for: changed.id }, t('settings.changed')))), list));
  root.append(place);
  let known = [];

  function show() {
    const wanted = find.value.trim().toLowerCase();
    const fit = known.filter((one) => (!changed.checked || one.origin !== 'default') && `${one.name} ${one.help}`.toLowerCase().includes(wanted));
    const sections = Map.groupBy ? Map.groupBy(fit, (one) => one.section) : grouped(fit);
    list.replaceChildren(...[...sections].map(([name, rows]) => make('section', { class: 'group' },
      make('h2', {}, name || t('settings.general')), make('dl', { class: 'settings-list' }, rows.flatMap(rowOf)))));
    if (!fit.length) list.append(make('p', { class: 'empty' }, t('settings.none')));
  }

  const followed = follow({ path: () => 'settings', draw: (found) => { known = found.settings; forms.show(found.may); show(); }, note });
  return followed.end;
}

function grouped(rows) {
  const found = new Map();
  for (const row of rows) found.set(row.section, [...(found.get(row.section) ?? []), row]);
  return found;
}

function rowOf(one) {
  const value = typeof one.value === 'string' ? one.value : one.value === null ? '' : JSON.stringify(one.value);
  return [
    make('dt', { class: one.origin === 'default' ? '' : 'set' }, make('code', {}, one.name)),
    make('dd', {}, make('p', {}, make('code', { class: 'value' }, value || '–'), make('span', { class: 'row-about' }, ` ${t(`from.${one.origin}`, one.path)}`)), make('p', { class: 'row-about' }, coded(one.help))),
  ];
}
