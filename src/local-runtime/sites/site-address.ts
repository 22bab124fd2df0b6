export interface SiteName {
  readonly projectSlug: string;
  readonly targetSlug: string;
}

const suffix = '.localhost';
/** What can be part of a host name, which browsers write in lower case. */
const label = /^[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/;

/**
 * Where a target is served: at an origin of its own, so that links to its root work and apps do not share an origin.
 * Names that a host name cannot have, and clients on other machines, get a path instead.
 * @param call `origin` is as the client reaches the runtime.
 */
export function siteUrl(
  {origin, context}: {readonly origin: string; readonly context: {readonly appsOrigin: string}},
  {projectSlug, targetSlug}: SiteName,
): string {
  const url = new URL(origin);
  url.port = new URL(context.appsOrigin).port;
  const name = `${targetSlug}--${projectSlug}`;
  const isLabel = label.test(name) && !targetSlug.includes('--') && !targetSlug.endsWith('-');
  const isLocal = url.hostname === 'localhost' || url.hostname === '127.0.0.1';
  if (isLabel && isLocal) return `http://${name}${suffix}:${url.port}/`;
  return `${url.origin}${sitePath({projectSlug, targetSlug})}/`;
}

/** The path of a target below the origin of all apps. */
export function sitePath({projectSlug, targetSlug}: SiteName): string {
  return `/${encodeURIComponent(projectSlug)}/${encodeURIComponent(targetSlug)}`;
}

/** The target whose own origin a Host header names. */
export function siteOfHost(host: string | undefined): SiteName | undefined {
  const [, name = ''] = /^(.+)\.localhost(?::\d+)?$/.exec(host?.toLowerCase() ?? '') ?? [];
  const end = name.indexOf('--', 1);
  const projectSlug = name.slice(end + 2);
  return end === -1 || projectSlug === '' ? undefined : {projectSlug, targetSlug: name.slice(0, end)};
}
