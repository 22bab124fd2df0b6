import {pipeline} from 'node:stream/promises';
import {setTimeout as delay} from 'node:timers/promises';
import * as v from 'valibot';
import type {
  Backend,
  BackendContext,
  Bundle,
  BundleId,
  DeployResult,
  DeploymentState,
  ListRange,
  ListResult,
  ProjectItem,
  RedirectItem,
  TargetSettings,
  VariableItem,
} from '../../src/backends/contract.js';
import type {OptionalMember} from '../../src/backends/members.js';

export interface ShelfOptions {
  readonly origin?: string | undefined;
  readonly key?: string | undefined;
}

export type Context = BackendContext<ShelfOptions>;
type ShelfBackend = Backend<ShelfOptions>;

/** Smaller than any bundle of the suite. */
const partBytes = 150_000;

/** The steps of an upload, one of which a broken backend does in another way. */
export const goodSteps = {
  /** The upload that an earlier push began. */
  resumed: async ({state}: Context): Promise<string | undefined> =>
    (Object(await state?.read()) as {readonly id?: string}).id,
  save: async (id: string, {state}: Context): Promise<void> => state?.write({id}),
  /** The parts that the service has; undefined if it does not know the upload. */
  sent: async (id: string, context: Context): Promise<readonly string[] | undefined> => {
    const request = context.http(urlOf(context, 'uploads', id), {headers: authorized(context)});
    const {parts} = await request.json<{parts: string[]}>().catch((error: unknown) => {
      if (Object(error).status === 404) return {parts: undefined};
      throw error;
    });
    return parts;
  },
};

export type Steps = typeof goodSteps;

/** A backend with everything that does nothing wrong: the broken ones are made of it. */
export function createShelfBackend(changed: Partial<Steps> = {}) {
  const steps = {...goodSteps, ...changed};
  const backend: ShelfBackend & Required<Pick<ShelfBackend, OptionalMember | 'login' | 'verify'>> = {
    apiVersion: 1,
    name: 'shelf',
    summary: 'A service in memory',
    formats: ['v2'],
    options: v.object({origin: v.optional(v.string()), key: v.optional(v.string())}),
    required: ['origin', 'key'],
    secrets: ['key'],
    secretEnv: ['SHELF_SEAL'],
    slugs: {project: '.+', target: '.+'},

    async login({options, http, prompt, maskSecret}) {
      const password = await prompt({message: 'Password', secret: true});
      const {ticket} = await http.post(`${options.origin}/login`, {json: {password}}).json<{ticket: string}>();
      maskSecret(ticket);
      const {key} = await http.post(`${options.origin}/login`, {json: {ticket}}).json<{key: string}>();
      return {secrets: {key}};
    },
    async verify({options, http}) {
      const headers = {authorization: `Bearer ${String(options.key)}`};
      return http(`${options.origin}/me`, {headers}).json<{account: string}>();
    },
    async upload(bundle, context) {
      const {http, bodies, signal} = context;
      const headers = authorized(context);
      const earlier = await steps.resumed(context);
      const sent = earlier === undefined ? undefined : await steps.sent(earlier, context);
      const id = earlier !== undefined && sent ? earlier : await begin(bundle, context);
      const place = urlOf(context, 'uploads', id);
      const discard = async (own: Pick<Context, 'http'>) => {
        await own.http.delete(place, {headers});
      };
      if (!context.state) context.onAbort(discard);
      await steps.save(id, context);
      try {
        for (let start = 0, part = 0; start < bundle.size; start += partBytes, part += 1) {
          if (sent?.includes(String(part))) continue;
          const body = bodies.file(bundle, {start, end: Math.min(start + partBytes, bundle.size) - 1});
          const url = `${place}/${String(part)}`;
          await http.put(url, {...body, headers: {...body.headers, ...headers}, repeatable: true});
        }
        const sealed = {...headers, 'x-seal': context.env['SHELF_SEAL']};
        const raw = await http.post(place, {headers: sealed}).json<{id: string; receipt?: string}>();
        context.maskSecret(raw.receipt);
        return {bundleId: raw.id, raw};
      } catch (error) {
        if (!signal.aborted && !context.state) await discard({http}).catch(() => undefined);
        throw error;
      }
    },
    deploy: ({bundleId, targetSlug}, context) => requestDeployment(targetSlug, {bundleId}, context),
    promote: ({bundleId, from, to}, context) => requestDeployment(to, {bundleId, from}, context),
    async getDeployment({deploymentId, targetSlug}, context) {
      const url = urlOf(context, 'targets', String(targetSlug), String(deploymentId));
      const raw = await context.http(url, {headers: authorized(context)}).json<Pick<DeploymentState, 'status'>>();
      return {status: raw.status, raw};
    },
    async listBundles(range, context) {
      type Row = {id: string; message: string; createdAt: string; inUseBy: string[]};
      const {items, ...page} = await list<Row>(range, context, 'bundles');
      return {...page, items: items.map(({id, ...row}) => ({bundleId: id, ...row, status: 'ready'}))};
    },
    async listDeployments({targetSlug, ...range}, context) {
      type Row = {id: string; bundleId: string; createdAt: string; status: 'finished' | 'failed'; message?: string};
      const {items, ...page} = await list<Row>(range, context, 'targets', targetSlug);
      const item = ({id, bundleId, createdAt, status, message}: Row) => {
        return {deployment: {deploymentId: id, targetSlug}, bundleId, createdAt, status, message};
      };
      return {...page, items: items.map(item)};
    },
    async listTargets(range, context) {
      const {items, ...page} = await list<{slug: string; name?: string}>(range, context, 'targets');
      const item = ({slug, name}: {slug: string; name?: string}) => ({
        targetSlug: slug,
        name,
        url: `https://${slug}.example`,
      });
      return {...page, items: items.map(item)};
    },
    async createTarget({targetSlug, name, copyFrom}, context) {
      const request = {headers: authorized(context), json: {name, copyFrom}};
      const raw = await context.http.put(urlOf(context, 'targets', targetSlug), request).json();
      return {targetSlug, name, state: 'creating', raw};
    },
    async deleteTarget({targetSlug}, context) {
      await context.http.delete(urlOf(context, 'targets', targetSlug), {headers: authorized(context)});
    },
    listProjects: (range, context) => list<ProjectItem>(range, context, 'project'),
    async readTarget({targetSlug}, context) {
      const request = context.http(urlOf(context, 'settings', targetSlug), {headers: authorized(context)});
      const {primary, ...settings} = await request.json<TargetSettings & {readonly primary?: boolean}>();
      return {settings, primary};
    },
    async updateTarget({targetSlug, settings, primary}, context) {
      const request = {headers: authorized(context), json: {...settings, primary}};
      await context.http.patch(urlOf(context, 'settings', targetSlug), request);
    },
    listRedirects: ({targetSlug, ...range}, context) => list<RedirectItem>(range, context, 'redirects', targetSlug),
    async changeRedirect({targetSlug, change, redirect}, context) {
      const url = urlOf(context, 'redirects', targetSlug);
      const request = {headers: authorized(context), json: {...redirect, id: redirect.from}};
      await (change === 'remove' ? context.http.patch(url, request) : context.http.post(url, request));
    },
    async listAccess({targetSlug, ...range}, context) {
      const {items, ...page} = await list<{id: string}>(range, context, 'access', targetSlug);
      const ids = items.map(({id}) => ({accessId: id}));
      return {items: ids, total: page.total, cursor: page.cursor};
    },
    async changeAccess({targetSlug, add, remove}, context) {
      const url = urlOf(context, 'access', targetSlug);
      const headers = authorized(context);
      // The service keeps what it is given, so it gets no value.
      await (add === undefined
        ? context.http.patch(url, {headers, json: {id: remove}})
        : context.http.post(url, {headers, json: {}}));
    },
    listVariables: ({targetSlug, ...range}, context) => list<VariableItem>(range, context, 'variables', targetSlug),
    async setVariables({targetSlug, set, unset}, context) {
      const request = {headers: authorized(context), json: {set, unset}};
      await context.http.patch(urlOf(context, 'variables', targetSlug), request);
    },
    async invalidate({targetSlug, pattern}, context) {
      const request = {headers: authorized(context), json: {pattern}};
      await context.http.post(urlOf(context, 'purges', targetSlug), request);
    },
    async *tailLogs({targetSlug}, context) {
      for (let after = Infinity; ;) {
        const request = {headers: authorized(context), searchParams: {after}};
        const url = urlOf(context, 'tail', targetSlug);
        const {lines, next} = await context.http(url, request).json<{lines: string[]; next: number}>();
        for (const message of lines) yield {message};
        after = next;
        await delay(10, undefined, {signal: context.signal}).catch(() => context.signal.throwIfAborted());
      }
    },
    async download({bundleId, writeTo, resume, onStart}, context) {
      const range = resume && {range: `bytes=${String(resume.offset)}-`, 'if-range': resume.validator};
      const url = urlOf(context, 'bundles', String(bundleId));
      const {body, status, headers} = await context.openStream(url, {headers: {...authorized(context), ...range}});
      const offset = status === 206 ? (resume?.offset ?? 0) : 0;
      onStart?.({offset, total: offset + Number(headers['content-length']), validator: headers.etag});
      await pipeline(body, writeTo, {signal: context.signal});
    },
    async deleteBundle({bundleId}, context) {
      await context.http.delete(urlOf(context, 'bundles', String(bundleId)), {headers: authorized(context)});
    },
  };
  return backend;
}

async function begin({message}: Bundle, context: Context): Promise<string> {
  const headers = {...authorized(context), 'x-message': encodeURIComponent(message)};
  return (await context.http.post(urlOf(context, 'uploads'), {headers}).json<{id: string}>()).id;
}

async function list<Row>({limit, cursor}: ListRange, context: Context, ...path: string[]): Promise<ListResult<Row>> {
  const request = {headers: authorized(context), searchParams: {limit, after: cursor}};
  type Answer = {items: Row[]; total: number; next?: string};
  const raw = await context.http(urlOf(context, ...path), request).json<Answer>();
  return {items: raw.items, total: raw.total, cursor: raw.next, raw};
}

async function requestDeployment(
  targetSlug: string,
  json: {readonly bundleId: BundleId; readonly from?: string},
  context: Context,
): Promise<DeployResult> {
  const raw = await context.http
    .post(urlOf(context, 'targets', targetSlug), {headers: authorized(context), json})
    .json<{id: string}>()
    .catch((error: unknown) => {
      if (Object(error).status !== 409) throw error;
      throw context.error('ERR_TARGET_BUSY', 'Another deployment is running.', {status: 409});
    });
  return {deployment: {deploymentId: raw.id, targetSlug}, status: 'queued', raw};
}

export function urlOf({options, projectSlug}: Context, ...path: readonly string[]): string {
  return [options.origin, ...[projectSlug, ...path].map(encodeURIComponent)].join('/');
}

export function authorized({options}: Context): {authorization: string} {
  return {authorization: `Bearer ${String(options.key)}`};
}
