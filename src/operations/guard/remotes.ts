/** A git remote, in parts. */
interface Remote {
  readonly scheme: string;
  /** In lower case, without a user; with a port unless it is the scheme's own. */
  readonly host: string;
  /** Without slashes around it, `.git` after it, and credentials of a URL in it: mirrors have such paths. */
  readonly path: string;
}

const defaultPorts: Readonly<Record<string, string>> = {ssh: '22', https: '443', http: '80', git: '9418'};

/**
 * The parts of a remote's URL: `https://host/path`, `user@host:path` or `host/path`. Undefined for a local path and a
 * helper's address.
 */
function parseRemote(url: string): Remote | undefined {
  const text = url.trim();
  // `helper::address` is for a program, which may take anything for an address.
  if (/^[a-z0-9][a-z0-9+.-]*::/i.test(text)) return undefined;
  const full = /^([a-z][a-z0-9+.-]*):\/\/(?:[^/]*@)?([^/:@]+|\[[^\]]+\])(?::(\d+))?(?:\/([^?#]*))?/i.exec(text);
  if (full !== null) {
    const [, scheme = '', host = '', port, path = ''] = full;
    const name = scheme.toLowerCase().replace(/^git\+/, '');
    if (name === 'file') return undefined;
    const shownPort = port === undefined || port === defaultPorts[name] ? '' : `:${port}`;
    return {scheme: name, host: `${host.toLowerCase()}${shownPort}`, path: plainPath(path)};
  }
  // A drive letter of Windows is no host.
  const short = /^(?:[^/\s]*@)?([^/:@\s]{2,}):(?!\/\/)(.+)$/.exec(text);
  if (short !== null) {
    const [, host = '', path = ''] = short;
    return {scheme: 'ssh', host: host.toLowerCase(), path: plainPath(path)};
  }
  const bare = /^([^/:@\s]+\.[^/:@\s]+)\/([^?#]+)$/.exec(text);
  if (bare === null || text.startsWith('.')) return undefined;
  const [, host = '', path = ''] = bare;
  return {scheme: 'https', host: host.toLowerCase(), path: plainPath(path)};
}

function plainPath(path: string): string {
  return path
    .replaceAll(/^\/+|\/+$/g, '')
    .replace(/\.git$/i, '')
    .replaceAll(/(:\/{1,2})[^/]*@/g, '$1');
}

/** What two URLs of the same repository have in common: `host/path`. A local path stays as it is. */
export function remoteKey(url: string): string {
  const remote = parseRemote(url);
  return remote === undefined ? url.trim().replace(/^file:\/\//i, '') : `${remote.host}/${remote.path}`;
}

/** The URL of a remote without credentials. Undefined for a local path. */
export function shownRemote(url: string): string | undefined {
  const remote = parseRemote(url);
  return remote && `${remote.scheme}://${remote.host}/${remote.path}`;
}
