// Read-only links to tapes: the dialog that makes them, and the list of those that were made.

import { get, post } from '../api.js';
import { make } from '../dom.js';
import { follow } from '../screen.js';
import { addWords, t, when } from '../words.js';

const HOURS = [1, 24, 168];

addWords({
  en: {
    'links.title': 'Show this tape by a link', 'links.about': 'Whoever has the link can read this tape without an account, as far as you may show it: nothing else, and nothing that was deleted.',
    'links.private': 'Only the person of a private chat or thread can make a link to it.', 'links.for': 'The link works for', 'links.hours.1': '1 hour', 'links.hours.24': '1 day', 'links.hours.168': '7 days',
    'links.make': 'Make a link', 'links.made': 'The new link, which is shown only now', 'links.copy': 'Copy', 'links.copied': 'Copied.', 'links.ready': 'The link is ready.',
    'links.list': 'Links to this tape', 'links.all': 'Links that show a tape', 'links.none': 'There are no links to this tape.', 'links.you': 'you', 'links.holder': 'the holder of the access token', 'links.nobody': 'a restore, or somebody who was erased',
    'links.by': 'made by {0}, {1}', 'links.until': 'until {0}', 'links.opened': 'opened {0} time|opened {0} times', 'links.revoke': 'Revoke', 'links.revoked': 'The link is revoked.', 'links.gone': 'Somebody else has revoked it already.',
    'links.state.open': 'open', 'links.state.lost': 'shut', 'links.state.unsure': 'not sure', 'links.state.ended': 'ended', 'links.state.revoked': 'revoked', 'links.lost': 'The person who made it may no longer show this chat.', 'links.unsure': 'The platform does not say just now whether the person who made it may show this chat. Until it does, the link shows nothing.', 'links.revoked.by': 'revoked by {0}, {1}',
  },
  zh: {
    'links.title': '用链接展示此磁带', 'links.about': '持有链接的人无需账号即可阅读此磁带，范围以您可展示的为限：看不到其他内容，也看不到已删除的内容。',
    'links.private': '只有私聊或私密话题的本人才能为其创建链接。', 'links.for': '链接有效期', 'links.hours.1': '1 小时', 'links.hours.24': '1 天', 'links.hours.168': '7 天',
    'links.make': '创建链接', 'links.made': '新链接，仅此时显示', 'links.copy': '复制', 'links.copied': '已复制。', 'links.ready': '链接已就绪。',
    'links.list': '此磁带的链接', 'links.all': '展示磁带的链接', 'links.none': '此磁带没有链接。', 'links.you': '您', 'links.holder': '访问令牌持有者', 'links.nobody': '一次恢复或已被清除的人',
    'links.by': '由{0}创建，{1}', 'links.until': '至 {0}', 'links.opened': '打开过 {0} 次', 'links.revoke': '撤销', 'links.revoked': '链接已撤销。', 'links.gone': '已被他人撤销。',
    'links.state.open': '有效', 'links.state.lost': '已关闭', 'links.state.unsure': '尚不确定', 'links.state.ended': '已到期', 'links.state.revoked': '已撤销', 'links.lost': '创建者已无权展示此聊天。', 'links.unsure': '平台目前没有告知创建者是否有权展示此聊天。在得到答复之前，此链接不展示任何内容。', 'links.revoked.by': '由{0}撤销，{1}',
  },
});

const LAMPS = { open: 'good', lost: 'warn', unsure: 'warn' };
const isOpen = ({ state }) => state in LAMPS;

const makerOf = (link) => (link.own ? t('links.you') : link.holder ? t('links.holder') : link.name || link.by);

// A row; `titled` names the chat. `revoke(link, button)` is called by its button.
function rowOf(link, titled, revoke) {
  const name = titled ? make('a', { href: `#/tape/${link.chat}` }, make('bdi', {}, link.title)) : make('span', {}, t('links.until', when(link.until)));
  const about = [t('links.by', makerOf(link), when(link.made)), titled ? t('links.until', when(link.until)) : '', t('links.opened', link.opened),
    link.state === 'revoked' ? t('links.revoked.by', link.revoked_by_you ? t('links.you') : link.revoker || t('links.nobody'), when(link.revoked)) : ''].filter(Boolean).join(' · ');
  return make('li', { class: 'row link', 'data-link': link.link },
    make('span', { class: 'lamp', 'data-kind': LAMPS[link.state] ?? '' }, t(`links.state.${link.state}`)),
    make('div', { class: 'row-main' },
      make('p', { class: 'row-head' }, name), make('p', { class: 'row-about' }, about),
      ['lost', 'unsure'].includes(link.state) ? make('p', { class: 'row-why' }, t(`links.${link.state}`)) : null),
    isOpen(link) ? make('p', { class: 'row-buttons' }, make('button', { type: 'button', class: 'quiet', 'aria-label': `${t('links.revoke')}: ${link.title}, ${t('links.until', when(link.until))}`, onclick: (event) => revoke(link, event.currentTarget) }, t('links.revoke'))) : null);
}

// Return what revokes a link, says so, and then has the list read again; `next()` takes the focus.
function revoker(say, again, next) {
  return async (link, button) => {
    button.disabled = true;
    try {
      const { revoked } = await post(`links/${link.link}/revoke`);
      say(t(revoked ? 'links.revoked' : 'links.gone'));
    } catch (cause) {
      say(cause.message);
    }
    await again();
    button.disabled = false;
    if (!button.isConnected) next().focus({ preventScroll: true });
  };
}

// All links of the chats that one sees, as a section of a screen: { element, end }.
export function linksSection() {
  const list = make('ul', { class: 'rows' });
  const note = make('p', { class: 'note', role: 'status' });
  const element = make('section', { class: 'group', hidden: true }, make('h2', { tabindex: '-1' }, t('links.all')), note, list);
  const say = (sentence) => { note.textContent = sentence; };
  const draw = ({ links }) => {
    element.hidden = !links.length;
    list.replaceChildren(...links.map((link) => rowOf(link, true, revoke)));
  };
  let said = '';
  const revoke = revoker((sentence) => { said = sentence; }, async () => { await followed.refresh(); say(said); }, () => list.querySelector('button') ?? element.querySelector('h2'));
  const followed = follow({ path: () => 'links', draw, note });
  return { element, end: followed.end };
}

// The dialog of one tape; `signal` closes it.
export function share(chat, signal) {
  let shown = ''; // the link that was made here
  const close = () => dialog.close();
  const closer = make('button', { type: 'button', class: 'quiet', onclick: close }, t('close'));
  const hours = make('select', { id: 'share-hours' }, HOURS.map((one) => make('option', { value: one, selected: one === 24 }, t(`links.hours.${one}`))));
  const form = make('form', { class: 'fields', hidden: true, onsubmit: (event) => { event.preventDefault(); create(); } },
    make('p', { class: 'field' }, make('label', { for: hours.id }, t('links.for')), hours),
    make('button', { class: 'button' }, t('links.make')));
  const link = make('input', { id: 'share-link', readonly: true, spellcheck: 'false', onfocus: () => link.setSelectionRange(0, link.value.length, 'backward') });
  const made = make('div', { class: 'fields share-made', hidden: true },
    make('p', { class: 'field' }, make('label', { for: link.id }, t('links.made')), link),
    make('button', { type: 'button', class: 'button', onclick: copy }, t('links.copy')));
  const done = make('p', { class: 'note', role: 'status' });
  const list = make('ul', { class: 'rows' });
  const none = make('p', { class: 'empty', hidden: true }, t('links.none'));
  const dialog = make('dialog', { class: 'ask share', 'aria-labelledby': 'share-title', onclose: () => { signal.removeEventListener('abort', close); dialog.remove(); } },
    make('h2', { id: 'share-title' }, t('links.title')), make('p', {}, t('links.about')), form, made, done,
    make('section', { class: 'group' }, make('h2', {}, t('links.list')), none, list),
    make('p', { class: 'ask-buttons' }, closer));

  const say = (sentence) => { done.textContent = sentence; };

  async function create() {
    try {
      const { link: id, secret, page } = await post('links', { chat, hours: Number(hours.value) });
      shown = id;
      link.value = `${page || new URL('/console', location.href).href}#link=${secret}`;
      made.hidden = false;
      link.focus();
      say(t('links.ready'));
    } catch (cause) {
      say(cause.message);
    }
    await read();
  }

  async function copy() {
    try {
      await navigator.clipboard.writeText(link.value);
      say(t('links.copied'));
    } catch { // not allowed here: the link is selected, to be copied by hand
      link.focus();
    }
  }

  async function read() {
    try {
      const { links, may } = await get(`links?chat=${chat}`, { signal });
      const open = links.filter(isOpen);
      form.hidden = !may;
      none.hidden = open.length > 0;
      if (!open.some((one) => one.link === shown)) made.hidden = true;
      list.replaceChildren(...open.map((one) => rowOf(one, false, revoke)));
      if (!may) say(t('links.private'));
    } catch (cause) {
      if (cause.name !== 'AbortError') say(cause.message);
    }
  }

  const revoke = revoker(say, read, () => closer);
  signal.addEventListener('abort', close);
  document.body.append(dialog);
  dialog.showModal();
  read();
}
