import { html, type Html } from './html.js';

interface FormOptions {
  readonly adminPath: string;
  readonly csrf: string;
}

/** The form that asks for an admin token. */
export function loginForm({
  adminPath,
  csrf,
  problem,
  next,
  devMode,
}: FormOptions & { problem: string | null; next: string; devMode: boolean }): Html {
  return html`<form class="card" method="post" action="${adminPath}/login">
    <h1>Quire administration</h1>
    ${
      devMode
        ? html`<p>
            This service runs in dev mode: <a href="${adminPath}/queues">the queues</a> are open without a
            login.
          </p>`
        : html`<p>Log in with an access token that has the <code>admin</code> permission.</p>`
    }
    ${problem === null ? null : html`<p class="problem" role="alert">${problem}</p>`}
    <input type="hidden" name="csrf" value="${csrf}" />
    <input type="hidden" name="next" value="${next}" />
    <label for="token">Admin token</label>
    <input id="token" name="token" type="password" autocomplete="off" spellcheck="false" required autofocus />
    <button type="submit">Log in</button>
  </form>`;
}

/** Makes the card that a browser sees instead of the form when it is logged in. */
export function sessionCard(
  { callerId, expiresAtMs }: { callerId: string | null; expiresAtMs: number },
  { adminPath, csrf }: FormOptions,
): Html {
  return html`<form class="card" method="post" action="${adminPath}/logout">
    <h1>Quire administration</h1>
    <p>Logged in as <strong>${callerId}</strong> until ${new Date(expiresAtMs).toISOString()}.</p>
    <p><a href="${adminPath}/queues">Queues</a></p>
    <input type="hidden" name="csrf" value="${csrf}" />
    <button type="submit" class="plain">Log out</button>
  </form>`;
}
