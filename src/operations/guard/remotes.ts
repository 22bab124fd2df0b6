/** The URL of a remote without credentials. Undefined for a local path and a helper (`helper::address`). */
function parseRemote(text: string): URL | undefined {
  const remote = text.trim().replace(/^git\+/i, '');
  if (/^[a-z0-9][a-z0-9+.-]*::/i.test(remote)) return undefined;
  // A drive letter of Windows is no host.
  const [, host, path] = /^(?:[^/\s]*@)?([^/:@\s]{2,}):(?!\/\/)(.+)$/.exec(remote) ?? [];
  const isBare = /^[^./:@\s]+\.[^/:@\s]+\/[^?#]/.test(remote);
  const address = host === undefined ? `${isBare ? 'https://' : ''}${remote}` : `ssh://${host}/${path ?? ''}`;
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  return url.host === '' ? undefined : url;
}

/** The host in lower case, with a port unless it is the scheme's own, and the path without slashes around it. */
function placeOf({protocol, host, pathname}: URL): string {
  const path = pathname
    .replaceAll(/^\/+|(?<!\/)\/+$/g, '')
    .replace(/\.git$/i, '')
    // Mirrors have credentials of another URL in their path.
    .replaceAll(/(:\/{1,2})[^/]*@/g, '$1');
  return `${host.toLowerCase().replace(protocol === 'ssh:' ? /:22$/ : /$/, '')}/${path}`;
}

/** What two URLs of the same repository have in common: `host/path`. A local path stays as it is. */
export function remoteKey(text: string): string {
  const url = parseRemote(text);
  return url === undefined ? text.trim().replace(/^file:\/\//i, '') : placeOf(url);
}

/** The URL of a remote without credentials. Undefined for a local path. */
export function shownRemote(text: string): string | undefined {
  const url = parseRemote(text);
  return url && `${url.protocol}//${placeOf(url)}`;
}
