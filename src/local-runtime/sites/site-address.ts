/** A target of a project. */
export interface SiteName {
  readonly projectSlug: string;
  readonly targetSlug: string;
}

const suffix = '.localhost';
/** What can be part of a host name, which browsers write in lower case. */
const label = /^[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/;
const maxLabel = 63;
const loopback: ReadonlySet<string> = new Set(['localhost', '127.0.0.1']);

/**
 * The URL of the bundle that a target runs: an origin of its own, `http://TARGET--PROJECT.localhost:PORT/`, so that
 * links to its root work and apps do not share an origin. Names that a host name cannot have, and clients on other
 * machines, get a path instead.
 * @param call `origin` is as the client reaches the runtime, `appsOrigin` where deployed apps are served.
 */
export function siteUrl(
  {origin, context}: {readonly origin: string; readonly context: {readonly appsOrigin: string}},
  {projectSlug, targetSlug}: SiteName,
): string {
  const url = new URL(origin);
  url.port = new URL(context.appsOrigin).port;
  const name = `${targetSlug}--${projectSlug}`;
  const isLabel =
    label.test(name) && name.length <= maxLabel && !targetSlug.includes('--') && !targetSlug.endsWith('-');
  if (isLabel && loopback.has(url.hostname)) return `http://${name}${suffix}:${url.port}/`;
  return `${url.origin}${sitePath({projectSlug, targetSlug})}/`;
}

/** The path of a target below the origin of all apps. */
export function sitePath({projectSlug, targetSlug}: SiteName): string {
  return `/${encodeURIComponent(projectSlug)}/${encodeURIComponent(targetSlug)}`;
}

/** The target whose own origin a Host header names. */
export function siteOfHost(host: string | undefined): SiteName | undefined {
  const name = host?.toLowerCase().replace(/:\d+$/, '') ?? '';
  if (!name.endsWith(suffix)) return undefined;
  const [targetSlug = '', ...rest] = name.slice(0, -suffix.length).split('--');
  const projectSlug = rest.join('--');
  return targetSlug === '' || projectSlug === '' ? undefined : {projectSlug, targetSlug};
}
