// The server answers a wrong token with a redirect to /login?wrong=1.
const error = document.getElementById('login-error');
const field = document.getElementById('token');

if (new URLSearchParams(location.search).get('wrong') === '1') {
  error.hidden = false;
  field.setAttribute('aria-invalid', 'true');
  field.setAttribute('aria-describedby', 'login-error');
  history.replaceState(null, '', location.pathname);
}

field.addEventListener('input', () => field.removeAttribute('aria-invalid'));
field.focus();
