// The owner's panel: invitations to this room, sessions, and the access of chats and people.

import { ask } from './link.js';
import { copyText, make } from './parts.js';
import { counted, locale, t } from './words.js';

const $ = (id) => document.getElementById(id);
const LOCAL = /^(localhost|127\.[\d.]+|\[::1\])$/; // names by which a machine means itself
const when = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' });

export function setUpAccess({ room, announce, nameOf, me }) {
  const dialog = $('access-dialog');
  const error = $('access-error');

  function showError(sentence) {
    error.hidden = !sentence;
    error.textContent = sentence;
  }

  // Ask the gateway, and show its refusal; return its answer or null.
  async function call(path, body) {
    try {
      const found = await ask(path, body);
      showError('');
      return found;
    } catch (refused) {
      showError(refused.message);
      return null;
    }
  }

  function row(name, about, action, label, run) {
    const item = make('li');
    const text = make('span', 'access-name', name);
    text.append(make('small', '', about));
    item.append(text);
    if (action) {
      const button = make('button', 'quiet-button', action);
      button.type = 'button';
      button.setAttribute('aria-label', label);
      button.addEventListener('click', async () => {
        button.disabled = true;
        await run();
        await show();
      });
      item.append(button);
    }
    return item;
  }

  const empty = (text) => make('li', 'access-none', text);

  function showSessions({ sessions, invitations }) {
    const people = sessions.map(({ person, owner, rooms, expires_at: until }) => row(
      nameOf(person) ?? person,
      [person === me()?.id && t('you'), owner ? t('owner') : t('member of {0}', rooms.join(', ')), t('until {0}', when.format(new Date(until)))].filter(Boolean).join(', '),
      t('End'), t('End the session of {0}', nameOf(person) ?? person),
      () => call('/api/sessions/end', { person }),
    ));
    const open = invitations.map(({ code, room: to, uses, expires_at: until }) => row(
      t('Invitation to {0}', to),
      `${uses === 1 ? t('once') : counted(uses, 'time')}, ${t('until {0}', when.format(new Date(until)))}`,
      t('Withdraw'), t('Withdraw an invitation to {0}', to),
      () => call('/api/invitations/withdraw', { code }),
    ));
    const all = [...open, ...people];
    $('access-sessions').replaceChildren(...(all.length ? all : [empty(t('Nobody is signed in or invited.'))]));
  }

  function showRules({ rules, waiting }) {
    const who = ({ account_id: account, id }) => `${account.split(':')[0]}:${id}`;
    const account = ({ account_id: full }) => full.split(':')[1] ?? '';
    const asked = waiting.map((one) => {
      const place = { account_id: one.account_id, id: one.chat_id };
      return row(
        one.title || who(place), t('{0}, waits to be opened', who(place)),
        t('Open'), t('Open {0}', one.title || who(place)),
        () => call('/api/access/grant', { who: who(place), account: account(place) }),
      );
    });
    const granted = rules.filter(({ role }) => role !== 'none').map((rule) => row(
      rule.name || who(rule), `${who(rule)}, ${t(rule.role)}`,
      rule.granted_by === 'settings' ? '' : t('Revoke'), t('Revoke the access of {0}', rule.name || who(rule)),
      () => call('/api/access/revoke', { who: who(rule), account: account(rule) }),
    ));
    const all = [...asked, ...granted];
    $('access-rules').replaceChildren(...(all.length ? all : [empty(t('No chat and nobody on a platform.'))]));
  }

  async function show() {
    const sessions = await call('/api/sessions');
    if (sessions) showSessions(sessions);
    const rules = sessions && await call('/api/access');
    if (rules) showRules(rules);
  }

  $('invite').addEventListener('click', async () => {
    const found = await call('/api/invitations', { room, uses: 1, minutes: 24 * 60 });
    if (!found) return;
    $('invite-link').value = `${location.origin}/login#code=${found.code}`;
    $('invite-row').hidden = false;
    $('invite-local').hidden = !LOCAL.test(location.hostname);
    $('invite-link').focus();
    $('invite-link').select();
    await show();
  });

  $('invite-copy').addEventListener('click', async () => {
    const done = await copyText($('invite-link').value);
    announce(t(done ? 'Copied' : 'Copying failed'));
    $('invite-copy').textContent = t(done ? 'Copied' : 'Failed');
    setTimeout(() => { $('invite-copy').textContent = t('Copy'); }, 1600);
  });

  $('pair').addEventListener('click', async () => {
    const found = await call('/api/access/pair', {});
    if (!found) return;
    const lines = Object.values(found.hints).map((hint) => make('p', '', hint));
    $('pair-lines').replaceChildren(make('p', 'access-code', found.code), ...lines);
  });

  $('access-grant').addEventListener('submit', async (event) => {
    event.preventDefault();
    const body = { who: $('grant-who').value.trim(), role: $('grant-role').value };
    if (await call('/api/access/grant', body)) {
      $('grant-who').value = '';
      await show();
    }
  });

  $('access-close').addEventListener('click', () => dialog.close());
  // What it showed is for the owner's eyes: nothing stays in the page.
  dialog.addEventListener('close', () => {
    $('invite-row').hidden = true;
    $('invite-local').hidden = true;
    $('invite-link').value = '';
    for (const id of ['pair-lines', 'access-sessions', 'access-rules']) $(id).replaceChildren();
  });

  return {
    open() {
      showError('');
      dialog.showModal();
      show();
    },
  };
}
