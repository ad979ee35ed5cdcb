// The owner's panel: invitations to this room, sessions, and the access of chats and people.

import { ask } from './link.js';
import { copyText, counted, make } from './parts.js';

const $ = (id) => document.getElementById(id);
const LOCAL = /^(localhost|127\.[\d.]+|\[::1\])$/; // names by which a machine means itself
const when = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

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
    const people = sessions.map(({ person, owner, room: own, expires_at: until }) => row(
      nameOf(person) ?? person,
      `${person === me()?.id ? 'you, ' : ''}${owner ? 'owner' : `member of ${own}`}, until ${when.format(new Date(until))}`,
      'End', `End the session of ${nameOf(person) ?? person}`,
      () => call('/api/sessions/end', { person }),
    ));
    const open = invitations.map(({ code, room: to, uses, expires_at: until }) => row(
      `Invitation to ${to}`,
      `${uses === 1 ? 'once' : counted(uses, 'time')}, until ${when.format(new Date(until))}`,
      'Withdraw', `Withdraw an invitation to ${to}`,
      () => call('/api/invitations/withdraw', { code }),
    ));
    const all = [...open, ...people];
    $('access-sessions').replaceChildren(...(all.length ? all : [empty('Nobody is signed in or invited.')]));
  }

  function showRules({ rules, waiting }) {
    const who = ({ account_id: account, id }) => `${account.split(':')[0]}:${id}`;
    const account = ({ account_id: full }) => full.split(':')[1] ?? '';
    const asked = waiting.map((one) => {
      const place = { account_id: one.account_id, id: one.chat_id };
      return row(
        one.title || who(place), `${who(place)}, waits to be opened`,
        'Open', `Open ${one.title || who(place)}`,
        () => call('/api/access/grant', { who: who(place), account: account(place) }),
      );
    });
    const granted = rules.filter(({ role }) => role !== 'none').map((rule) => row(
      rule.name || who(rule), `${who(rule)}, ${rule.role}`,
      rule.granted_by === 'settings' ? '' : 'Revoke', `Revoke the access of ${rule.name || who(rule)}`,
      () => call('/api/access/revoke', { who: who(rule), account: account(rule) }),
    ));
    const all = [...asked, ...granted];
    $('access-rules').replaceChildren(...(all.length ? all : [empty('No chat and nobody on a platform.')]));
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
    $('invite-link').value = `${location.origin}/login#${found.code}`;
    $('invite-row').hidden = false;
    $('invite-local').hidden = !LOCAL.test(location.hostname);
    $('invite-link').focus();
    $('invite-link').select();
    await show();
  });

  $('invite-copy').addEventListener('click', async () => {
    const done = await copyText($('invite-link').value);
    announce(done ? 'Copied' : 'Copying failed');
    $('invite-copy').textContent = done ? 'Copied' : 'Failed';
    setTimeout(() => { $('invite-copy').textContent = 'Copy'; }, 1600);
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
