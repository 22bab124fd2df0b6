import {realpath, stat} from 'node:fs/promises';
import path from 'node:path';
import {parseAccept} from 'hono/utils/accept';
import {getMimeType} from 'hono/utils/mime';
import {frameworks} from '../../frameworks/frameworks.js';
import {answer, HttpFailure, json, type Headers} from '../answer.js';
import type {AdmittedCall, Call, Protocol, RuntimeContext} from '../context.js';
import {sendFile} from '../send-file.js';
import type {DeploymentRecord} from '../store/store.js';
import {siteOfHost, sitePath, type SiteName} from './site-address.js';

/** Whether it is the top of the port, where no app is. */
export function isHome({path, request}: Call): boolean {
  return path === '/' && siteOfHost(request.headers.host) === undefined;
}

/**
 * The deployed apps. They need no credentials, and have other origins than the API, so that their scripts can neither
 * call it nor change the pages of the runtime.
 */
export const siteProtocol: Protocol = {
  prefix: '/',
  routes: [],
  admit: () => 'browser',
  failure: ({status, message, headers}) => text(status, message, headers),
};

function text(status: number, line: string, headers: Headers = {}): Response {
  return answer(status, `${line}\n`, {'content-type': 'text/plain; charset=utf-8', ...headers});
}

/** What a browser finds at the origin of the API besides the pages: the way to the deployed apps. */
export const frontProtocol: Protocol = {
  prefix: '/',
  routes: [],
  admit: () => 'browser',
  // Most requests to unknown paths were meant for the API.
  failure: ({status, message, headers}) => json(status, {detail: message, message}, headers),
};

function isRead({request: {method}}: Call): boolean {
  return method === 'GET' || method === 'HEAD';
}

function notAllowed({path, request: {method = ''}}: Call): HttpFailure {
  return new HttpFailure(405, `${path} does not accept ${method}, only GET.`, {allow: 'GET'});
}

/** Where targets are served, for people. */
function sitePattern({appsOrigin}: RuntimeContext): string {
  return `http://TARGET--PROJECT.localhost:${new URL(appsOrigin).port}/`;
}

/** A request for an app. */
interface SiteCall extends AdmittedCall {
  readonly site: SiteName;
  /** The path of the target, without a final slash; empty at a host name of its own. */
  readonly base: string;
  /** The decoded parts of the path below the target. */
  readonly parts: readonly string[];
}

/** Answers a request for an app, by its host name or, where clients cannot resolve that, by its path. */
export async function serveSite(call: AdmittedCall): Promise<Response> {
  const own = siteOfHost(call.request.headers.host);
  const parts = call.path.slice(1).split('/').map(decodeURIComponent);
  if (own) return serve({...call, site: own, base: '', parts});
  const pattern = sitePattern(call.context);
  if (isHome(call)) return text(200, `Each target is served at ${pattern}, for development only.`);
  const [projectSlug = '', targetSlug, ...rest] = parts;
  if (targetSlug === undefined) {
    throw new HttpFailure(404, `Nothing is served at ${call.path}. Each target is served at ${pattern}.`);
  }
  const site = {projectSlug, targetSlug};
  return serve({...call, site, base: sitePath(site), parts: rest});
}

/** Answers with a file of the deployment, or else what its server answers, or else as hosts of static sites do. */
async function serve(call: SiteCall): Promise<Response> {
  const {context, site, parts} = call;
  const {projectSlug, targetSlug} = site;
  const deployment = context.deployments.current(projectSlug, targetSlug);
  if (deployment === undefined) {
    const place = `"${targetSlug}" of "${projectSlug}"`;
    throw new HttpFailure(404, `Nothing is deployed to ${place}. Each target is served at ${sitePattern(context)}.`);
  }
  if (parts.length === 0) return redirect(308, call, []);
  const files = new SiteFiles(call, deployment);
  const name = isSafe(parts) ? parts.join('/') : undefined;
  const found = isRead(call) && name !== undefined ? await files.find(namesOf(name)) : undefined;
  if (found !== undefined) return files.send(found);
  const answered = await context.appServers?.answer(call, deployment);
  if (answered) return answered;
  if (!isRead(call)) throw notAllowed(call);
  const other = name === undefined ? undefined : await otherPage(call, name, files);
  if (other !== undefined) return other;
  const advice = context.appServers === undefined ? ' If its server should answer, start the runtime with --ssr.' : '';
  throw new HttpFailure(404, `The deployed bundle does not serve a file at ${call.path}.${advice}`);
}

function isSafe(parts: readonly string[]): boolean {
  const isUnsafe = (part: string): boolean => part === '.' || part === '..' || /[/\\\0]/.test(part);
  return !parts.slice(0, -1).includes('') && !parts.some(isUnsafe);
}

/** Folders that frameworks build for the root of a site whose server stands beside them. */
const publicFolders = [...new Set(frameworks.flatMap(({publicFolder = []}) => publicFolder))];

const assetPrefixes = frameworks.flatMap(({assetPrefix = []}) => assetPrefix);

/** The files that a path may mean. */
function namesOf(name: string): readonly string[] {
  if (name === '' || name.endsWith('/')) return [`${name}index.html`];
  const withoutPrefix = assetPrefixes.map((prefix) => name.replace(prefix, ''));
  return [name, `${name}.html`, ...publicFolders.map((root) => `${root}/${name}`), ...withoutPrefix];
}

/** The page that a path without a file may mean, or a redirect to it. */
async function otherPage(call: SiteCall, name: string, files: SiteFiles): Promise<Response | undefined> {
  if (await files.isFolder(name)) return redirect(302, call, call.parts);
  if (name === '') {
    // A redirect instead of the page itself, because its relative links depend on its location.
    const page = await files.find(['static/index.html', 'client/index.html']);
    return page === undefined ? undefined : redirect(302, call, [path.dirname(page)], 'index.html');
  }
  if ((await files.find(['404.html'])) !== undefined) return files.send('404.html', 404);
  // The page of an app with its routes in the browser.
  const isNavigation = call.request.headers.accept?.includes('text/html') === true;
  const page = isNavigation ? await files.find(['index.html']) : undefined;
  return page === undefined ? undefined : files.send(page);
}

/**
 * Redirects to a folder of the same target, or a file in it. The address is built from validated names, because
 * browsers could take the requested one for another server's (`//evil`, `/\\evil`).
 */
function redirect(status: number, {base, search}: SiteCall, folders: readonly string[], file = ''): Response {
  const names = folders.map((name) => `/${encodeURIComponent(name)}`).join('');
  return answer(status, '', {location: `${base}${names}/${file}${search}`});
}

/** Encodings of precompressed files, best first, with their file extensions. */
const encodings = {br: '.br', gzip: '.gz'} as const;

/** The files of a deployment that may be served, see `Deployments`. */
class SiteFiles {
  readonly #call: SiteCall;
  readonly #deployment: DeploymentRecord;
  readonly #folder: string;

  constructor(call: SiteCall, deployment: DeploymentRecord) {
    this.#call = call;
    this.#deployment = deployment;
    this.#folder = call.context.store.sitePath(deployment.deploymentId);
  }

  /** The first of some files that exists. */
  async find(names: readonly string[]): Promise<string | undefined> {
    for (const name of names) if ((await this.#stats(name))?.isFile()) return name;
    return undefined;
  }

  /** Whether a folder is asked for without its final slash. */
  async isFolder(name: string): Promise<boolean> {
    return name !== '' && !name.endsWith('/') && (await this.#stats(name))?.isDirectory() === true;
  }

  /** Answers with a file, in an encoding that the client accepts, if the bundle has one. */
  async send(name: string, status?: number): Promise<Response> {
    const {request, response, context} = this.#call;
    const {deploymentId, endsAt} = this.#deployment;
    const accepted = parseAccept(request.headers['accept-encoding'] ?? '').filter(({q}) => q > 0);
    let [file, encoding, hasVariants] = [name, '', false];
    for (const [one, suffix] of Object.entries(encodings)) {
      const variant = await this.find([`${name}${suffix}`]);
      if (variant === undefined) continue;
      hasVariants = true;
      if (encoding === '' && accepted.some(({type}) => type === one)) [file, encoding] = [variant, one];
    }
    return sendFile(
      path.join(this.#folder, file),
      {request, response},
      {
        status,
        etag: encoding === '' ? deploymentId : `${deploymentId}-${encoding}`,
        modified: new Date(endsAt),
        headers: {
          'content-type': getMimeType(name) ?? 'application/octet-stream',
          'cache-control': cacheControl(name),
          'x-content-type-options': 'nosniff',
          ...(hasVariants && {vary: 'accept-encoding'}),
          ...(encoding !== '' && {'content-encoding': encoding}),
        },
        stallSeconds: context.stallSeconds,
      },
    );
  }

  /** A data folder may come from somebody else, with links that lead out of it. */
  async #stats(name: string) {
    const found = await realpath(path.join(this.#folder, name)).catch(() => undefined);
    return found?.startsWith(`${this.#folder}${path.sep}`) === true ? stat(found).catch(() => undefined) : undefined;
  }
}

/**
 * Names that bundlers give to files, with a hash of their content: in hex (webpack, Parcel), in base32 (esbuild,
 * Angular) and in base64 (Vite, Rollup). Digits before letters set it apart from words, years and numbered names.
 */
const hashedNames = [
  /(?:^|[-._])(?=\d*[a-f])(?=[a-f]*\d)[\da-f]{8,64}(?:\.[a-z]\w*)+$/,
  /[-.](?=[A-Z2-7]*[2-7][A-Z])[A-Z2-7]{8}(?:\.[a-z]\w*)+$/,
  /[-.](?=[\w-]*\d[A-Za-z])(?=[\w-]*[a-z])(?=[\w-]*[A-Z])[\w-]{8}(?:\.[a-z]\w*)+$/,
];

/** Folders in which frameworks put nothing but files that never change: those of SvelteKit and Next.js. */
const immutableFolder = /(?:^|\/)(?:_app\/immutable|[_.]next\/static)\//;

/**
 * How long a file of a bundle may be kept without asking again: forever if a change of it would change its name, and
 * not at all otherwise.
 */
export function cacheControl(name: string): string {
  const file = name.slice(name.lastIndexOf('/') + 1);
  const isImmutable =
    !file.endsWith('.html') && (immutableFolder.test(name) || hashedNames.some((pattern) => pattern.test(file)));
  return isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache';
}
