import { keepReturn } from './link.js';
import { t, translate } from './words.js';

// The server answers a wrong token with a redirect to /login?wrong=1. A link's code stands in the
// fragment, which browsers do not send: it is taken out of the address, and posted once. A link to a
// room has led to /login?room=; its fragment is a message.

translate();
const name = new URLSearchParams(location.search).get('as'); // what a guest is called, who is only tried out
const error = document.getElementById('login-error');
const field = document.getElementById('token');

function showError(sentence) {
  error.textContent = sentence;
  error.hidden = false;
}

if (new URLSearchParams(location.search).get('wrong') === '1') {
  error.hidden = false;
  field.setAttribute('aria-invalid', 'true');
  field.setAttribute('aria-describedby', 'login-error');
  history.replaceState(null, '', location.pathname);
}

// Go on to the room to which a link led. Its reader may be signed in: when another site leads to
// the gateway, browsers keep the cookie to themselves.
async function goOn() {
  const room = new URLSearchParams(location.search).get('room');
  if (room === null) return;
  const place = `${room && `?room=${encodeURIComponent(room)}`}${location.hash}`;
  keepReturn(place);
  history.replaceState(null, '', location.pathname);
  try {
    if ((await fetch('/api/rooms')).ok) {
      location.replace(`/${place}`);
      return;
    }
    const { path } = await (await fetch('/login/guest')).json();
    if (path) location.replace(path + place);
  } catch { /* whoever is not signed in can do so here */ }
}

async function useCode() {
  const code = location.hash.replace(/^#(code=)?/, ''); // older invitations have the code alone
  if (!code) return;
  history.replaceState(null, '', location.pathname);
  try {
    const response = await fetch('/login/code', {
      method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ code }),
    });
    if (response.ok) {
      const { room, path } = await response.json();
      const query = new URLSearchParams({ ...(room && { room }), ...(name && { as: name }) });
      location.replace(`${path}${room || name ? `?${query}` : ''}`);
    } else {
      showError(response.status === 429
        ? t('Too many wrong logins. Try again in a second.')
        : t('This link was used or has expired. Ask for another one.'));
    }
  } catch {
    showError(t('The gateway cannot be reached. Open the link again.'));
  }
}

goOn();
useCode();
window.addEventListener('hashchange', useCode); // the link was opened in this very tab
field.addEventListener('input', () => field.removeAttribute('aria-invalid'));
field.focus();
