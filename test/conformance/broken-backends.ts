import {once} from 'node:events';
import {PassThrough, Readable} from 'node:stream';
import {buffer} from 'node:stream/consumers';
import {pipeline} from 'node:stream/promises';
import {setTimeout as delay} from 'node:timers/promises';
import {backendError, createBackendContext} from '../../src/backends/backend-context.js';
import type {
  Backend,
  BackendErrorCode,
  Bundle,
  BundleItem,
  BundleId,
  DeploymentItem,
  DeploymentRef,
  DownloadStart,
  ListRange,
  ListResult,
  RedirectItem,
  TargetSettings,
  UploadResult,
} from '../../src/backends/contract.js';
import {fastRetries} from '../../src/conformance/subject.js';
import {backendMembers, type MemberName} from '../../src/backends/members.js';
import {authorized, createShelfBackend, goodSteps, urlOf, type Context, type Steps} from './shelf-backend.js';

type Shelf = ReturnType<typeof createShelfBackend>;
type Change = (good: Shelf) => {readonly [Name in keyof Shelf]?: Shelf[Name] | undefined};

/** A backend that breaks the contract in one way. */
export interface BrokenBackend {
  readonly fault: string;
  create(): Backend;
}

function broken(fault: string, change: Change, steps?: Partial<Steps>): BrokenBackend {
  const create = () => {
    const good = createShelfBackend(steps);
    return {...good, ...change(good)} as Backend;
  };
  return {fault, create};
}

const none: Change = () => ({});
const noState = {write: () => Promise.resolve(), remove: () => Promise.resolve()};
/** What the uploads that are under way have saved, by the digest of their archive. */
const shared = new Map<string, Promise<unknown>>();

/** The uploads of a project. */
const uploadsOf = new Map<string, readonly string[]>();

/** The bundle that is being uploaded, by its project. */
const partial = new Map<string, BundleItem>();

/** The upload that is under way, by the origin of its service. */
const begun = new Map<string, {readonly sha256: string; readonly result: Promise<UploadResult>}>();

/** The origins of services of which a redirect is being changed. */
const changing = new Set<string>();

/** How many deployments are under way, by the origin of their service. */
const deploying = new Map<string, number>();

/** The first keys that services were called with, by their origins. */
const firstKeys = new Map<string, string | undefined>();

/** The IDs of deployments that are in no list. */
const unlisted = new Set<unknown>();

const onBundles = ['deploy', 'download', 'deleteBundle'] as const;
/** What the host asks for besides settings and logins. */
const operations = (Object.keys(backendMembers) as MemberName[]).filter((name) => name !== 'check' && name !== 'login');

type Call = (context: Context) => Promise<unknown>;

interface TargetIn {
  readonly targetSlug: string;
  readonly projectSlug: string;
}

type Around = (call: Call, context: Context) => Promise<unknown>;

/** Does something else around each call of some members, whose context is their last argument. */
function brokenCall(fault: string, members: keyof Shelf | readonly (keyof Shelf)[], around: Around): BrokenBackend {
  return broken(fault, (good) => {
    const changes = [members].flat().map((member) => {
      const own = Reflect.get(good, member) as (...all: readonly unknown[]) => Promise<unknown>;
      const changed = (...given: readonly unknown[]) => {
        return around((context) => own(...given.slice(0, -1), context), given.at(-1) as Context);
      };
      return [member, changed] as const;
    });
    return Object.fromEntries(changes);
  });
}

/** Reports a failure with this status or code as another one. */
function mistaking(met: number | string, code: BackendErrorCode) {
  return (call: Call, context: Context) =>
    call(context).catch((error: unknown) => {
      const {status, code: own} = Object(error) as {readonly status?: number; readonly code?: string};
      throw status === met || own === met ? backendError(code, 'mistaken') : error;
    });
}

/** What can go wrong in any operation: a backend for each does it in all of them. */
const anywhere: readonly (readonly [fault: string, around: Around, members?: readonly (keyof Shelf)[]])[] = [
  ['ignores that it is aborted', ignoringAborts, operations.filter((name) => !/upload|download/.test(name))],
  ['reports a failure of the service as one of the network', mistaking(500, 'ERR_NETWORK')],
  ['reports refused credentials as an unknown bundle', mistaking(401, 'ERR_BUNDLE_UNKNOWN')],
  ['reports a rate limit as a failure', mistaking(429, 'ERR_SERVER')],
  ['gives up at the first rate limit', givingUpAtLimits],
  ['retries more often than the host allows', tryingAgain],
  ['does not ask again when an answer is lost', givingUpWithoutAnswer],
  ['reports a lost answer as a refusal', mistaking('ERR_OUTCOME_UNKNOWN', 'ERR_REJECTED')],
  ['does not say that a bundle is unknown', mistaking(404, 'ERR_REJECTED'), onBundles],
  ['finds the bundles of other projects', findingOthers, onBundles],
];

export const brokenBackends: readonly BrokenBackend[] = [
  broken(
    'has a member that is not a function',
    () => ({deleteBundle: 'delete' as unknown as Shelf['upload']}) as object,
  ),
  broken('sets its limit of files to 0', () => ({limits: {maxFiles: 0}})),
  brokenCall('logs the key, in base64', 'listBundles', (call, context) => {
    context.logger.debug(`Authorization: Basic ${btoa(`user:${String(context.options.key)}`)}`);
    return call(context);
  }),
  brokenCall('reveals the key in the cause of an error', 'deploy', (call, context) =>
    call(context).catch((error: unknown) => {
      if (Object(error).status !== 404) throw error;
      const cause = new Error(`request with ${JSON.stringify(authorized(context))} failed`);
      throw Object.assign(backendError('ERR_BUNDLE_UNKNOWN', 'refused'), {cause});
    }),
  ),
  brokenProjects('cuts the slugs of projects after 40 characters', (slug) => slug.slice(0, 40)),
  brokenProjects('cuts the slugs of projects after 150 characters', (slug) => slug.slice(0, 150)),
  brokenProjects('puts the slugs of projects into URLs as they are', (slug) => slug.replace(/[?#].*/, '')),
  brokenProjects('puts the slugs of projects into queries as they are', (slug) => slug.replace(/&.*/, '')),
  brokenCall('puts the slugs of projects into SQL as they are', operations, async (call, context) => {
    if (!context.projectSlug.includes("'or'")) return call(context);
    const {items} = await createShelfBackend().listProjects({limit: 1}, context);
    return call({...context, projectSlug: items[0]?.projectSlug ?? context.projectSlug});
  }),
  broken('ignores the case of the slug of a target that it deletes', (good) => ({
    deleteTarget: ({targetSlug}, context) => good.deleteTarget({targetSlug: targetSlug.toLowerCase()}, context),
  })),
  broken('cuts the slugs of targets after ten characters', (good) => ({
    createTarget: ({targetSlug, ...request}, context) =>
      good.createTarget({...request, targetSlug: targetSlug.slice(0, 10)}, context),
  })),
  broken('ignores which target a new one is to be a copy of', (good) => ({
    createTarget: ({copyFrom: _, ...request}, context) => good.createTarget(request, context),
  })),
  brokenSlugs('ignores the case of the slugs of targets', (slug) => slug.toLowerCase()),
  brokenSlugs('cuts the slugs of targets after 63 characters', (slug) => slug.slice(0, 63)),
  brokenSlugs('treats the slugs of targets as LIKE patterns of SQL', (slug, known) => {
    return known.find((one) => likePattern(slug).test(one)) ?? slug;
  }),
  brokenSlugs('puts the slugs of targets into SQL as they are', (slug, known) => {
    return slug.includes("'or'1'='1") ? (known[0] ?? slug) : slug;
  }),
  brokenSlugs('treats the slugs of targets as globs', (slug, known) => {
    const pattern = new RegExp(`^${slug.replaceAll(/[?.]/g, '[$&]').replaceAll('*', '.*')}$`);
    return known.find((one) => pattern.test(one)) ?? slug;
  }),
  brokenSlugs('normalizes the accents in the slugs of targets', (slug) => slug.normalize('NFC')),
  brokenSlugs('drops a dash at the end of the slugs of targets', (slug) => slug.replace(/-$/, '')),
  brokenSlugs('drops a dot at the end of the slugs of targets', (slug) => slug.replace(/\.$/, '')),
  broken('lists the deployments of targets whose slugs begin with the named one', (good) => ({
    async listDeployments({targetSlug, ...range}, context) {
      const {items, cursor} = await good.listDeployments({targetSlug, ...range}, context);
      const others = cursor === undefined ? await slugsAfter(targetSlug, good, context) : [];
      const rest = others.map((other) => firstOf(good.listDeployments, {targetSlug: other, limit: 5}, context));
      return {items: [...items, ...(await Promise.all(rest)).flat()], cursor};
    },
  })),
  broken('removes the variables of targets whose slugs begin with the one that it deletes', (good) => ({
    async deleteTarget({targetSlug}, context) {
      const others = await slugsAfter(targetSlug, good, context);
      await good.deleteTarget({targetSlug}, context);
      const unset = ['CONFORMANCE', 'OWN', 'OTHER'];
      for (const other of others) await good.setVariables({targetSlug: other, set: {}, unset}, context);
    },
  })),
  broken('lists the bundles of projects whose slugs begin with the named one', (good) => ({
    async listBundles({limit, cursor}, context) {
      const page = await good.listBundles({limit, cursor}, context);
      const own = context.projectSlug;
      const projects = await firstOf(good.listProjects, {limit: 5}, context);
      const isAfter = (slug: string) => slug.startsWith(own) && slug > `${own}/`;
      const others = projects.map(({projectSlug}) => projectSlug).filter(isAfter);
      const rest = others.map((projectSlug) => good.listBundles({limit: 5}, {...context, projectSlug}));
      const items = (await Promise.all(rest)).flatMap((one) => one.items);
      return {items: [...page.items, ...items], cursor: page.cursor};
    },
  })),
  brokenRemoval('removes the variables whose names begin with one that it removes and _', (removed, name) =>
    name.startsWith(`${removed}_`),
  ),
  brokenRemoval('removes the variables whose names are like one that it removes in SQL', (removed, name) =>
    likePattern(removed).test(name),
  ),
  broken('sets the variable whose name is like the named one in SQL', (good) => ({
    async setVariables({targetSlug, set, unset}, context) {
      const names = (await firstOf(good.listVariables, {targetSlug, limit: 5}, context)).map(({name}) => name);
      const values = Object.entries(set).map(([name, value]) => {
        return [names.find((one) => likePattern(name).test(one)) ?? name, value];
      });
      await good.setVariables({targetSlug, set: Object.fromEntries(values), unset}, context);
    },
  })),
  broken('removes the redirects whose paths are like the one that it removes in SQL', (good) => ({
    async changeRedirect({redirect, ...request}, context) {
      await good.changeRedirect({...request, redirect}, context);
      if (request.change !== 'remove') return;
      const items = await firstOf(good.listRedirects, {targetSlug: request.targetSlug, limit: 5}, context);
      for (const one of items.filter(({from}) => likePattern(redirect.from).test(from)))
        await good.changeRedirect({...request, redirect: one}, context);
    },
  })),
  broken('removes the access headers whose IDs are like the one that it removes in SQL', (good) => ({
    async changeAccess({targetSlug, ...request}, context) {
      const {remove} = request;
      if (remove === undefined) return good.changeAccess({targetSlug, ...request}, context);
      const items = await firstOf(good.listAccess, {targetSlug, limit: 5}, context);
      for (const {accessId} of items.filter((one) => likePattern(remove).test(one.accessId)))
        await good.changeAccess({targetSlug, remove: accessId}, context);
    },
  })),
  broken('deletes the bundles whose IDs begin with the one that it deletes', (good) => ({
    async deleteBundle({bundleId}, context) {
      await good.deleteBundle({bundleId}, context);
      const begin = String(bundleId).replace('#%', '');
      const items = await firstOf(good.listBundles, {limit: 5}, context);
      for (const one of items.filter((item) => String(item.bundleId).startsWith(begin)))
        await good.deleteBundle({bundleId: one.bundleId}, context);
    },
  })),
  broken('deletes the targets whose slugs begin with the one that it deletes and a dash', (good) => ({
    async deleteTarget({targetSlug}, context) {
      await good.deleteTarget({targetSlug}, context);
      const slugs = (await firstOf(good.listTargets, {limit: 5}, context)).map((item) => item.targetSlug);
      for (const slug of slugs.filter((one) => one.startsWith(`${targetSlug}-`)))
        await good.deleteTarget({targetSlug: slug}, context);
    },
  })),
  broken('writes back all redirects when it adds one', (good) => ({
    async changeRedirect({targetSlug, change, redirect}, context) {
      const read = async () => firstOf(good.listRedirects, {targetSlug, limit: 5}, context);
      const known = [redirect, ...(await read())].map(({from}) => from);
      await good.changeRedirect({targetSlug, change, redirect}, context);
      for (const other of (await read()).filter(({from}) => !known.includes(from)))
        await good.changeRedirect({targetSlug, change: 'remove', redirect: other}, context);
    },
  })),
  brokenCall('refuses redirects that are added at the same time', 'changeRedirect', async (call, context) => {
    const {origin = ''} = context.options;
    if (changing.has(origin)) throw backendError('ERR_REJECTED', 'another change is under way', {status: 409});
    changing.add(origin);
    await call(context).finally(() => changing.delete(origin));
  }),
  broken('writes back all variables when it sets one', (good) => ({
    async setVariables({targetSlug, set, unset}, context) {
      const read = async () =>
        (await firstOf(good.listVariables, {targetSlug, limit: 5}, context)).map(({name}) => name);
      const known = [...Object.keys(set), ...(await read())];
      await good.setVariables({targetSlug, set, unset}, context);
      const others = (await read()).filter((name) => !known.includes(name));
      await good.setVariables({targetSlug, set: {}, unset: others}, context);
    },
  })),
  broken('writes back all settings when it changes one', (good) => ({
    async updateTarget({targetSlug, settings, primary}, context) {
      const before = await good.readTarget({targetSlug}, context);
      const defaults = {name: null, sourceMaps: null, logLevel: null, architecture: null, externalHost: null};
      const all = {...defaults, ...before.settings, ...settings} as typeof settings;
      await good.updateTarget({targetSlug, settings: all, primary}, context);
    },
  })),
  broken('writes back all access headers when it adds one', (good) => ({
    async changeAccess({targetSlug, ...request}, context) {
      const read = () => firstOf(good.listAccess, {targetSlug, limit: 5}, context);
      const most = (await read()).length + 1;
      await good.changeAccess({targetSlug, ...request}, context);
      for (const {accessId} of (await read()).slice(most))
        await good.changeAccess({targetSlug, remove: accessId}, context).catch(() => undefined);
    },
  })),
  broken('removes the redirects of a target that it deploys to', (good) => ({
    async deploy({targetSlug, ...request}, context) {
      const redirects = await firstOf(good.listRedirects, {targetSlug, limit: 5}, context).catch(() => []);
      for (const redirect of redirects) await good.changeRedirect({targetSlug, change: 'remove', redirect}, context);
      return good.deploy({targetSlug, ...request}, context);
    },
  })),
  broken('removes the access headers of a target that it promotes to', (good) => ({
    async promote({to, ...request}, context) {
      for (const {accessId} of await firstOf(good.listAccess, {targetSlug: to, limit: 5}, context))
        await good.changeAccess({targetSlug: to, remove: accessId}, context);
      return good.promote({to, ...request}, context);
    },
  })),
  broken('removes a variable from every target', (good) => {
    const targets = ['staging', 'production'];
    return {
      async setVariables({targetSlug, ...change}, context) {
        await good.setVariables({targetSlug, ...change}, context);
        for (const other of targets) await good.setVariables({...change, set: {}, targetSlug: other}, context);
      },
      async changeRedirect(request, context) {
        await good.changeRedirect(request, context);
        if (request.change !== 'remove') return;
        for (const other of targets) await good.changeRedirect({...request, targetSlug: other}, context);
      },
    };
  }),
  brokenCall('lists the targets of all projects', 'listTargets', async (call, context) => {
    const page = Object(await call(context)) as ListResult<{readonly targetSlug: string}>;
    if (!context.projectSlug.endsWith('-2')) return page;
    const others = Object(await call(inFirstProject(context))) as typeof page;
    return {items: [...page.items, ...others.items]};
  }),
  brokenCall(
    'changes the targets of all projects',
    ['setVariables', 'changeRedirect', 'changeAccess', 'updateTarget', 'deleteTarget'],
    async (call, context) => {
      if (context.projectSlug.endsWith('-2')) await call(inFirstProject(context));
      return call(context);
    },
  ),
  broken('makes a target the primary one of all projects', (good) => ({
    async updateTarget(request, context) {
      await good.updateTarget(request, context);
      if (request.primary !== true || !context.projectSlug.endsWith('-2')) return;
      for (const targetSlug of ['staging', 'production']) {
        const url = urlOf(inFirstProject(context), 'settings', targetSlug);
        await context.http.patch(url, {headers: authorized(context), json: {primary: false}});
      }
    },
  })),
  broken('copies the targets of other projects', (good) => ({
    createTarget: ({copyFrom, ...request}, context) =>
      good.createTarget({copyFrom, ...request}, context).catch(async (error: unknown) => {
        if (Object(error).status !== 404 || copyFrom === undefined) throw error;
        await good.listVariables({targetSlug: copyFrom, limit: 5}, inFirstProject(context));
        return good.createTarget(request, context);
      }),
  })),
  broken('copies no redirects', (good) => ({
    async createTarget({targetSlug, ...request}, context) {
      const made = await good.createTarget({targetSlug, ...request}, context);
      const {items} = await good.listRedirects({targetSlug, limit: 5}, context);
      for (const redirect of items) await good.changeRedirect({targetSlug, change: 'remove', redirect}, context);
      return made;
    },
  })),
  broken('copies the first hundred redirects only', (good) => ({
    async createTarget({targetSlug, ...request}, context) {
      const made = await good.createTarget({targetSlug, ...request}, context);
      const copied = await firstOf(good.listRedirects, {targetSlug, limit: 5}, context);
      for (const redirect of copied.slice(100))
        await good.changeRedirect({targetSlug, change: 'remove', redirect}, context);
      return made;
    },
  })),
  broken('copies the first hundred variables only', (good) => ({
    async createTarget({targetSlug, ...request}, context) {
      const made = await good.createTarget({targetSlug, ...request}, context);
      const copied = await firstOf(good.listVariables, {targetSlug, limit: 5}, context);
      const unset = copied.slice(100).map(({name}) => name);
      await good.setVariables({targetSlug, set: {}, unset}, context);
      return made;
    },
  })),
  broken('moves variables to a copy', (good) => ({
    async createTarget({copyFrom, ...request}, context) {
      const made = await good.createTarget({copyFrom, ...request}, context);
      if (copyFrom === undefined) return made;
      const {items} = await good.listVariables({targetSlug: copyFrom, limit: 5}, context);
      const unset = items.map(({name}) => name);
      await good.setVariables({targetSlug: copyFrom, set: {}, unset}, context);
      return made;
    },
  })),
  broken('never makes a target the primary one', (good) => ({
    updateTarget: ({primary: _, ...request}, context) => good.updateTarget(request, context),
    readTarget: async (request, context) => ({...(await good.readTarget(request, context)), primary: false}),
  })),
  brokenSettings('drops settings that are null', (settings) =>
    Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null)),
  ),
  brokenValues('trims the values of variables', (value) => value.trim()),
  brokenValues('cuts the values of variables after 4,096 characters', (value) => value.slice(0, 4096)),
  brokenValues('cuts the values of variables at a second =', (value) => value.split('=').slice(0, 2).join('=')),
  brokenValues('drops = at the end of the values of variables', (value) => value.replace(/=+$/, '')),
  brokenValues('changes the line ends in values of variables', (value) => value.replaceAll('\r\n', '\n')),
  broken('ignores the case of the names of variables', (good) => ({
    setVariables: async ({set, ...request}, context) => {
      const {items} = await good.listVariables({...request, limit: 100}, context);
      const known = new Map(items.map(({name}) => [name.toLowerCase(), name]));
      const values = Object.entries(set).map(([name, value]) => [known.get(name.toLowerCase()) ?? name, value]);
      return good.setVariables({...request, set: Object.fromEntries(values)}, context);
    },
  })),
  broken('never replaces the value of a variable', (good) => ({
    setVariables: async ({targetSlug, set, ...request}, context) => {
      const {items} = await good.listVariables({targetSlug, limit: 5}, context);
      const added = Object.entries(set).filter(([name]) => !items.some((item) => item.name === name));
      await good.setVariables({...request, targetSlug, set: Object.fromEntries(added)}, context);
    },
  })),
  broken('removes a variable from the list only', (good) => {
    const hidden = new Set<string>();
    const keyOf =
      (targetSlug: string, {projectSlug}: Context) =>
      (name: string) =>
        JSON.stringify([projectSlug, targetSlug, name]);
    return {
      setVariables: async ({targetSlug, set, unset}, context) => {
        await good.setVariables({targetSlug, set, unset: []}, context);
        const key = keyOf(targetSlug, context);
        for (const name of unset) hidden.add(key(name));
        for (const name of Object.keys(set)) hidden.delete(key(name));
      },
      listVariables: async ({targetSlug, ...range}, context) => {
        const {items, cursor} = await good.listVariables({targetSlug, ...range}, context);
        const key = keyOf(targetSlug, context);
        return {items: items.filter(({name}) => !hidden.has(key(name))), cursor};
      },
    };
  }),
  broken('copies the names of variables, but not their values', (good) => ({
    async createTarget({targetSlug, copyFrom, ...request}, context) {
      const made = await good.createTarget({targetSlug, copyFrom, ...request}, context);
      const {items} = await good.listVariables({targetSlug, limit: 5}, context);
      const set = Object.fromEntries(items.map(({name}) => [name, '']));
      await good.setVariables({targetSlug, set, unset: []}, context);
      return made;
    },
  })),
  broken('leaves the variables of a target that it deletes', (good) => {
    const left = new Map<string, readonly string[]>();
    return {
      async deleteTarget({targetSlug}, context) {
        const {items} = await good.listVariables({targetSlug, limit: 5}, context);
        left.set(
          targetSlug,
          items.map(({name}) => name),
        );
        await good.deleteTarget({targetSlug}, context);
      },
      async createTarget({targetSlug, ...request}, context) {
        const made = await good.createTarget({targetSlug, ...request}, context);
        const set = Object.fromEntries((left.get(targetSlug) ?? []).map((name) => [name, '']));
        await good.setVariables({targetSlug, set, unset: []}, context);
        return made;
      },
    };
  }),
  broken('lists the history of a target that it has deleted when it is made again by a deployment', (good) => {
    const left = new Map<string, readonly DeploymentItem[]>();
    const keyOf = (targetSlug: string, {projectSlug}: Context) => JSON.stringify([projectSlug, targetSlug]);
    return {
      async deleteTarget({targetSlug}, context) {
        const {items} = await good.listDeployments({targetSlug, limit: 5}, context);
        await good.deleteTarget({targetSlug}, context);
        if (targetSlug === 'staging') left.set(keyOf(targetSlug, context), items);
      },
      async listDeployments({targetSlug, ...range}, context) {
        const {items, cursor} = await good.listDeployments({targetSlug, ...range}, context);
        const earlier = items.length === 0 ? [] : (left.get(keyOf(targetSlug, context)) ?? []);
        return {items: [...items, ...(cursor === undefined ? earlier : [])], cursor};
      },
    };
  }),
  broken('keeps a target that it deletes as the primary one', (good) => {
    const primaries = new Map<string, string>();
    return {
      async updateTarget({targetSlug, primary, ...request}, context) {
        if (primary === true) primaries.set(context.projectSlug, targetSlug);
        await good.updateTarget({targetSlug, ...request}, context);
      },
      async readTarget({targetSlug}, context) {
        const isPrimary = primaries.get(context.projectSlug) === targetSlug;
        return {...(await good.readTarget({targetSlug}, context)), primary: isPrimary};
      },
    };
  }),
  broken('leaves the former primary target one, too', (good) => {
    const primaries = new Set<string>();
    const keyOf = (targetSlug: string, {projectSlug}: Context) => `${projectSlug}/${targetSlug}`;
    return {
      async updateTarget({targetSlug, primary, ...request}, context) {
        if (primary === true) primaries.add(keyOf(targetSlug, context));
        await good.updateTarget({targetSlug, primary, ...request}, context);
      },
      async readTarget({targetSlug}, context) {
        return {...(await good.readTarget({targetSlug}, context)), primary: primaries.has(keyOf(targetSlug, context))};
      },
      async deleteTarget({targetSlug}, context) {
        await good.deleteTarget({targetSlug}, context);
        primaries.delete(keyOf(targetSlug, context));
      },
    };
  }),
  brokenSettings('forgets the region of a target', ({region: _, ...settings}) => settings),
  brokenSettings('forgets the domain of a target', ({externalDomain: _, ...settings}) => settings),
  broken('gives the ID of a deleted bundle to the next one', (good) => {
    let free: BundleId | undefined;
    /** The IDs of the service, by those that are used again. */
    const own = new Map<BundleId, BundleId>();
    return {
      deploy: ({bundleId, ...request}, context) =>
        good.deploy({...request, bundleId: own.get(bundleId) ?? bundleId}, context),
      deleteBundle: async ({bundleId}, context) => {
        await good.deleteBundle({bundleId}, context);
        free = bundleId;
      },
      upload: async (bundle, context) => {
        const {bundleId, raw} = await good.upload(bundle, context);
        if (free === undefined) return {bundleId, raw};
        own.set(free, bundleId);
        return {bundleId: free, raw};
      },
    };
  }),
  brokenSettings('ignores settings that are false or empty', (settings) =>
    Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== false && String(value) !== '')),
  ),
  brokenCall('leaves something behind of a bundle that it deletes', 'deleteBundle', async (call, context) => {
    await call(context);
    await context.http.post(urlOf(context, 'uploads'), {headers: {...authorized(context), 'x-message': 'left'}});
  }),
  brokenCall('lists the first page of projects only', 'listProjects', async (call, context) => {
    const {items} = Object(await call(context)) as ListResult<unknown>;
    return {items};
  }),
  brokenCursor('pages through a history by offset', 'listDeployments'),
  brokenCursor('pages by offset through its targets, which are in alphabetical order', 'listTargets', byText),
  brokenCursor('pages by offset through its projects, which are in alphabetical order', 'listProjects', byText),
  brokenCursor('pages by offset through variables, of which some are removed', 'listVariables'),
  brokenCursor('pages by offset through redirects, of which some are removed', 'listRedirects'),
  broken('succeeds in deleting an unknown target', (good) => ({
    deleteTarget: (request, context) => ignoring(404, good.deleteTarget(request, context)),
  })),
  broken('accepts any credentials in verify()', () => ({verify: async () => ({account: 'ann'})})),
  brokenCall('creates a target that already exists', 'createTarget', (call, context) => ignoring(409, call(context))),
  broken('deletes another target than the named one', (good) => ({
    deleteTarget: ({targetSlug}, context) => ignoring(404, good.deleteTarget({targetSlug: `${targetSlug}-2`}, context)),
  })),
  broken('lists values of variables as their status', (good) => {
    const values = new Map<string, string>();
    return {
      setVariables: async (change, context) => {
        for (const [name, value] of Object.entries(change.set)) values.set(name, value);
        await good.setVariables(change, context);
      },
      listVariables: async (range, context) => {
        const page = await good.listVariables(range, context);
        return {...page, items: page.items.map((item) => ({...item, status: values.get(item.name)}))};
      },
    };
  }),
  broken('lists the values of variables in its raw answer', (good) => {
    const values: string[] = [];
    return {
      setVariables: async (change, context) => {
        values.push(...Object.values(change.set));
        await good.setVariables(change, context);
      },
      listVariables: async (range, context) => ({...(await good.listVariables(range, context)), raw: values}),
    };
  }),
  brokenCall('lists no variables of a target that it does not know', 'listVariables', (call, context) =>
    ignoring(404, call(context)),
  ),
  broken('removes the variables that are not named', (good) => ({
    setVariables: async ({targetSlug, set, unset}, context) => {
      const {items} = await good.listVariables({targetSlug, limit: 100}, context);
      const others = items.map(({name}) => name).filter((name) => !Object.hasOwn(set, name));
      await good.setVariables({targetSlug, set, unset: [...unset, ...others]}, context);
    },
  })),
  brokenCall('lists a project for each of its targets', 'listProjects', async (call, context) => {
    const {items} = Object(await call(context)) as ListResult<unknown>;
    return {items: [...items, ...items]};
  }),
  brokenItems('lists the names of projects as their slugs', 'listProjects', {
    projectSlug: (slug: string) => slug.replaceAll('-', ' '),
  }),
  brokenCall('lists no project whose slug has a dot', 'listProjects', async (call, context) => {
    const {items, ...page} = Object(await call(context)) as ListResult<{projectSlug: string}>;
    return {...page, items: items.filter(({projectSlug}) => !projectSlug.includes('.'))};
  }),
  brokenCall('answers with default settings for a target that it does not know', 'readTarget', (call, context) =>
    ignoring(404, call(context)),
  ),
  broken('resets the settings that are not named', (good) => ({
    updateTarget: ({targetSlug, settings}, context) =>
      good.updateTarget({targetSlug, settings: {sourceMaps: false, logLevel: 'info', ...settings}}, context),
  })),
  brokenSettings('rounds the settings of targets', ({tracingRate, ...settings}) => {
    return tracingRate === undefined ? settings : {...settings, tracingRate: Math.round(tracingRate)};
  }),
  brokenSettings('keeps names of targets in Latin-1', ({name, ...settings}) => {
    return name === undefined ? settings : {...settings, name: Buffer.from(name, 'latin1').toString('latin1')};
  }),
  brokenCall('lists no redirects of a target that it does not know', 'listRedirects', (call, context) =>
    ignoring(404, call(context)),
  ),
  broken('removes all redirects when it removes one', (good) => ({
    changeRedirect: async (request, context) => {
      const {targetSlug, change} = request;
      if (change !== 'remove') return good.changeRedirect(request, context);
      const {items} = await good.listRedirects({targetSlug, limit: 5}, context);
      for (const redirect of items) await good.changeRedirect({targetSlug, change, redirect}, context);
    },
  })),
  broken('removes the redirects below the path of one that it removes', (good) => ({
    changeRedirect: async (request, context) => {
      await good.changeRedirect(request, context);
      const {targetSlug, change} = request;
      if (change !== 'remove') return;
      const {items} = await good.listRedirects({targetSlug, limit: 5}, context);
      const below = items.filter(({from}) => from.startsWith(`${request.redirect.from}/`));
      for (const redirect of below) await good.changeRedirect({targetSlug, change, redirect}, context);
    },
  })),
  broken('removes the redirect of a path with the one of what is below it', (good) => ({
    changeRedirect: async ({redirect, ...request}, context) => {
      await good.changeRedirect({...request, redirect}, context);
      if (request.change !== 'remove') return;
      const from = redirect.from.replace(/\/\*$/, '');
      await good.changeRedirect({...request, redirect: {...redirect, from}}, context);
    },
  })),
  broken('ignores the case of the path of a redirect that it removes', (good) => ({
    changeRedirect: async ({redirect, ...request}, context) => {
      const {items} = await good.listRedirects({...request, limit: 5}, context);
      const known = items.find(({from}) => from.toLowerCase() === redirect.from.toLowerCase());
      const removed = request.change === 'remove' ? (known ?? redirect) : redirect;
      // Its column is unique.
      if (request.change === 'add' && known) throw backendError('ERR_REJECTED', 'There is one already.');
      return good.changeRedirect({...request, redirect: removed}, context);
    },
  })),
  brokenRedirects('decodes the paths of redirects', ({from, ...redirect}) => ({...redirect, from: decodeURI(from)})),
  brokenRedirects('forgets the status of redirects', ({status: _, ...redirect}) => redirect),
  brokenRedirects('forgets that a redirect keeps the query', ({forwardQuery: _, ...redirect}) => redirect),
  brokenRedirects('forgets that a redirect keeps what * matches', ({forwardWildcard: _, ...redirect}) => redirect),
  brokenRedirects('cuts the destinations of redirects after 255 characters', ({to, ...redirect}) => {
    return {...redirect, to: to.slice(0, 255)};
  }),
  brokenRedirects('ignores the case of the paths of redirects', ({from, ...redirect}) => {
    return {...redirect, from: from.toLowerCase()};
  }),
  brokenEnd('lists the first fifty bundles only', 'listBundles', 50),
  brokenEnd('lists the first hundred deployments only', 'listDeployments', 100),
  brokenEnd('lists the first hundred targets only', 'listTargets', 100),
  brokenEnd('lists the first hundred variables only', 'listVariables', 100),
  brokenEnd('lists the first fifty redirects only', 'listRedirects', 50),
  brokenCall('lists no access headers of a target that it does not know', 'listAccess', (call, context) =>
    ignoring(404, call(context)),
  ),
  broken('uses the value of an access header as its ID', (good) => ({
    changeAccess: async (request, context) => {
      const {targetSlug, add} = request;
      if (add === undefined) return good.changeAccess(request, context);
      const url = urlOf(context, 'access', targetSlug);
      await context.http.post(url, {headers: authorized(context), json: {id: add}});
    },
  })),
  broken('removes no access header', (good) => ({
    changeAccess: async (request, context) => {
      if (request.add !== undefined) await good.changeAccess(request, context);
    },
  })),
  broken('shares the access headers of a target with its copy', (good) => {
    const sources = new Map<string, string>();
    const shared = <Request extends {readonly targetSlug: string}>(request: Request): Request => {
      return {...request, targetSlug: sources.get(request.targetSlug) ?? request.targetSlug};
    };
    return {
      async createTarget(request, context) {
        const {targetSlug, copyFrom} = request;
        const made = await good.createTarget(request, context);
        if (copyFrom !== undefined) sources.set(targetSlug, copyFrom);
        return made;
      },
      listAccess: (request, context) => good.listAccess(shared(request), context),
      changeAccess: (request, context) => good.changeAccess(shared(request), context),
    };
  }),
  broken('replaces an access header when it adds another one', (good) => ({
    changeAccess: async (request, context) => {
      const {targetSlug, add} = request;
      const {items} = await good.listAccess({targetSlug, limit: 5}, context);
      for (const {accessId} of add === undefined ? [] : items) {
        await good.changeAccess({targetSlug, remove: accessId}, context);
      }
      await good.changeAccess(request, context);
    },
  })),
  broken('removes the first access header for one that it does not know', (good) => ({
    changeAccess: async ({targetSlug, ...change}, context) => {
      const {items} = await good.listAccess({targetSlug, limit: 5}, context);
      const isKnown = items.some(({accessId}) => accessId === change.remove);
      const remove = isKnown ? change.remove : items[0]?.accessId;
      const made = change.add === undefined && remove !== undefined ? {remove} : change;
      await good.changeAccess({targetSlug, ...made}, context);
    },
  })),
  broken('logs the value of an access header', (good) => ({
    changeAccess: async (request, context) => {
      context.logger.debug(`Access: ${JSON.stringify(request)}`);
      await good.changeAccess(request, context);
    },
  })),
  brokenCall('invalidates what it does not know', 'invalidate', (call, context) => ignoring(404, call(context))),
  broken('ends its logs when it is aborted, as if they were complete', (good) => ({
    async *tailLogs(request, context) {
      try {
        yield* good.tailLogs(request, context);
      } catch (error) {
        if (!context.signal.aborted) throw error;
      }
    },
  })),
  brokenLog('cuts the lines of logs after 65,535 bytes', (lines) =>
    lines.map((line) => Buffer.from(line).subarray(0, 65_535).toString()),
  ),
  brokenLog('repeats the last line of its logs', undefined, {goOn: (next) => Math.max(0, next - 1)}),
  brokenLog('repeats its logs for who follows again', undefined, {start: 0}),
  brokenLog('trims the lines of logs', (lines) => lines.map((line) => line.trim())),
  brokenLog('keeps only the ASCII of the lines of logs', (lines) =>
    lines.map((line) => line.replaceAll(/[^ -~\t]/g, '?')),
  ),
  brokenLog('follows only the last one of the lines that are logged at once', (lines) => lines.slice(-1)),
  brokenFollower('follows the logs of every target', (target) => ({...target, targetSlug: 'production'})),
  brokenFollower('follows the logs of the target in every project', ({targetSlug, projectSlug}) => {
    return {targetSlug, projectSlug: `${projectSlug}-2`};
  }),
  broken('takes the targets of logs for patterns', (good) => ({
    tailLogs: ({targetSlug}, context) =>
      good.tailLogs({targetSlug: /^[*>]$/.test(targetSlug) ? 'production' : targetSlug}, context),
  })),
  broken('ends its logs after 50 lines', (good) => ({
    async *tailLogs(request, context) {
      let left = 50;
      for await (const entry of good.tailLogs(request, context)) {
        yield entry;
        left -= 1;
        if (left === 0) return;
      }
    },
  })),
  broken('waits for the logs of a target that it does not know', (good) => ({
    async *tailLogs(request, context) {
      try {
        yield* good.tailLogs(request, context);
      } catch (error) {
        if (Object(error).status !== 404) throw error;
        await once(context.signal, 'abort');
        throw context.signal.reason;
      }
    },
  })),
  broken('does not declare its secret option', () => ({secrets: []})),
  broken('does not declare its secret variable', () => ({secretEnv: []})),
  brokenCall('does not mask what it learns', 'upload', (call, context) =>
    call({...context, maskSecret: () => undefined}),
  ),
  broken('asks the service in check()', (good) => ({
    check: async ({options}) => {
      if (options.origin !== undefined) await fetch(options.origin);
      return {configured: true, summary: good.summary};
    },
  })),
  broken('says that it is configured without options', () => ({required: []})),
  broken('logs in with a secret that the service does not accept', () => ({
    login: async ({prompt}) => {
      await prompt({message: 'Password', secret: true});
      return {secrets: {key: 'no-such-key'}};
    },
  })),
  brokenCall('does not end a login that is aborted', 'login', ignoringAborts),
  brokenCall('logs the secret of a login', 'login', async (call, context) => {
    const result = await call(context);
    context.logger.debug(`logged in: ${JSON.stringify(result)}`);
    return result;
  }),
  brokenCall('does not mask what it learns in a login', 'login', (call, context) =>
    call({...context, maskSecret: () => undefined}),
  ),
  broken('asks nothing in verify(), and has no secret', () => ({secrets: [], secretEnv: [], verify: async () => ({})})),
  brokenCall('keeps what it signs in with by the address of the service alone', 'upload', (call, context) => {
    const {origin = '', key} = context.options;
    firstKeys.set(origin, firstKeys.get(origin) ?? key);
    return call({...context, options: {origin, key: firstKeys.get(origin)}});
  }),
  brokenCall('uploads something in verify()', 'verify', async (call, context) => {
    const headers = {...authorized(context), 'x-message': 'probe'};
    await context.http.post(`${String(context.options.origin)}/probe/uploads`, {headers});
    return call(context);
  }),

  broken('changes a byte beyond 16 MiB', (good) => ({
    upload: (bundle, context) => good.upload(changed(bundle, 16 * 1024 * 1024), context),
  })),
  broken('reports progress that runs backwards', (good) => ({
    upload: async (bundle, context) => {
      const result = await good.upload(bundle, context);
      for (const transferred of [bundle.size - 1, bundle.size]) context.onProgress({transferred, total: bundle.size});
      return result;
    },
  })),
  broken('reads a bundle to its end, aborted or not', (good) => ({
    upload: async (bundle, context) => good.upload(withBytes(bundle, await buffer(bundle.createReadStream())), context),
  })),
  broken('leaves the parts of a large bundle whose upload is aborted', (good) => ({
    upload: (bundle, context) =>
      good.upload(bundle, bundle.size < 1e6 ? context : {...context, onAbort: () => undefined}),
  })),
  broken('removes other large bundles when the upload of one is aborted', (good) => ({
    upload(bundle, context) {
      context.onAbort(async (cleanup) => {
        const own = {...context, ...cleanup};
        const others = bundle.size < 1e6 ? [] : await firstOf(good.listBundles, {limit: 5}, own);
        for (const {bundleId} of others) await good.deleteBundle({bundleId}, own);
      });
      return good.upload(bundle, context);
    },
  })),
  broken('removes the parts of a large bundle that another one of the same content has, too', (good) => {
    const digests = new Map<BundleId, string>();
    return {
      async upload(bundle, context) {
        const result = await good.upload(bundle, context);
        if (bundle.size > 1e6) digests.set(result.bundleId, bundle.sha256);
        return result;
      },
      async deleteBundle({bundleId}, context) {
        await good.deleteBundle({bundleId}, context);
        const sha256 = digests.get(bundleId);
        digests.delete(bundleId);
        const others = [...digests].filter(([, digest]) => digest === sha256);
        for (const [other] of others) await good.deleteBundle({bundleId: other}, context);
      },
    };
  }),
  brokenCall('leaves behind what an abort interrupts', 'upload', (call, context) =>
    call({...context, onAbort: () => undefined}),
  ),
  broken('ignores an abort before it has sent anything', (good) => ({
    upload: (bundle, context) => {
      let hasSent = false;
      const createReadStream: Bundle['createReadStream'] = (range) => {
        hasSent = true;
        return bundle.createReadStream(range);
      };
      return good.upload({...bundle, createReadStream}, context).catch((error: unknown) => {
        if (hasSent) throw error;
        return unlessAborted(error, context);
      });
    },
  })),
  brokenCall('leaves the parts of an upload that fails', 'upload', (call, context) => {
    const http: Context['http'] = Object.assign(context.http.extend({}), {delete: async () => Promise.resolve()});
    return call({...context, http});
  }),
  broken('deploys an upload when there is a target', (good) => ({
    upload: async (bundle, context) => {
      const result = await good.upload(bundle, context);
      const {bundleId} = result;
      const {targetSlug} = context;
      if (targetSlug !== undefined) await good.deploy({bundleId, targetSlug}, context);
      return result;
    },
  })),
  broken('saves nothing to resume an upload with', none, {save: () => Promise.resolve()}),
  broken('saves its key in the state of an upload', none, {
    save: async (id, {state, options}) => state?.write([id, options.key]),
  }),
  broken('never reads the state of an upload', none, {resumed: () => Promise.resolve(undefined)}),
  broken('does not resume an upload of which every part has arrived', none, {
    sent: async (id, context) => {
      const parts = await goodSteps.sent(id, context);
      if (parts?.length === 5) throw backendError('ERR_RESPONSE_INVALID', 'There is no next part.');
      return parts;
    },
  }),
  broken('lists a bundle as soon as it begins to upload it', (good) => ({
    async upload(bundle, context) {
      partial.set(context.projectSlug, {bundleId: bundle.sha256, message: bundle.message, status: 'ready'});
      try {
        return await good.upload(bundle, context);
      } finally {
        partial.delete(context.projectSlug);
      }
    },
    async listBundles(range, context) {
      const {items, cursor} = await good.listBundles(range, context);
      return {items: [...[partial.get(context.projectSlug) ?? []].flat(), ...items], cursor};
    },
  })),
  broken('sends every part of a resumed upload again', none, {
    sent: async (id, context) => (await goodSteps.sent(id, context))?.slice(0, 0),
  }),
  broken('resumes an upload that the service does not know', none, {
    sent: async (id, context) => (await goodSteps.sent(id, context)) ?? [],
  }),

  broken('removes what others are uploading', none, {
    save: async (id, context) => {
      const {http, projectSlug} = context;
      const others = uploadsOf.get(projectSlug) ?? [];
      uploadsOf.set(projectSlug, [...others, id]);
      const headers = authorized(context);
      for (const other of others)
        await http.delete(urlOf(context, 'uploads', other), {headers, throwHttpErrors: false});
      await goodSteps.save(id, context);
    },
  }),
  broken('shares an upload with another one of the same archive', (good) => ({
    upload: (bundle, context) => {
      const {state} = context;
      const earlier = shared.get(bundle.sha256);
      if (earlier) return good.upload(bundle, {...context, state: {...noState, read: () => earlier}});
      if (!state) return good.upload(bundle, context);
      const saved = new Promise<unknown>((resolve) => {
        const write = async (value: unknown) => {
          resolve(value);
          await state.write(value);
        };
        context = {...context, state: {...state, write}};
      });
      shared.set(bundle.sha256, saved);
      return good.upload(bundle, context).finally(() => shared.delete(bundle.sha256));
    },
  })),

  broken('writes the history of a deployment before it is live', (good) => {
    const rows = new Map<string, DeploymentItem>();
    return {
      deploy: ({bundleId, targetSlug}, context) => {
        const deployment = {deploymentId: 'early', targetSlug};
        rows.set(`${context.projectSlug}/${targetSlug}`, {deployment, bundleId, status: 'finished'});
        return good.deploy({bundleId, targetSlug}, context);
      },
      listDeployments: async ({targetSlug, ...range}, context) => {
        const page = await good.listDeployments({targetSlug, ...range}, context);
        const early = rows.get(`${context.projectSlug}/${targetSlug}`);
        return page.items.length > 0 || !early ? page : {items: [early]};
      },
    };
  }),
  brokenCall('fails if it cannot report a deployment that is live', ['deploy', 'promote'], async (call, context) => {
    const result = await call(context);
    await context.http.post(`${String(context.options.origin)}/me`, {headers: authorized(context)});
    return result;
  }),
  broken('deletes a bundle that is in use, and then refuses to', (good) => ({
    deleteBundle: async ({bundleId}, context) => {
      const {items} = await good.listBundles({limit: 1}, context);
      await good.deleteBundle({bundleId}, context);
      const isUsed = items.some((item) => item.bundleId === bundleId && item.inUseBy?.length);
      if (isUsed) throw backendError('ERR_REJECTED', 'in use');
    },
  })),
  broken('takes a bundle whose use it cannot read for unused', (good) => ({
    async deleteBundle({bundleId}, context) {
      const reading = firstOf(good.listBundles, {limit: 5}, context).then((items) => ({items}));
      const {items} = await ignoring<ListResult<BundleItem>>(500, reading);
      const isUsed = items.some((item) => item.bundleId === bundleId && item.inUseBy?.length);
      if (isUsed) throw backendError('ERR_REJECTED', 'in use');
      await good.deleteBundle({bundleId}, context);
    },
  })),
  broken('protects the bundle of the newest deployment, even if that has failed', (good) => ({
    async deleteBundle({bundleId}, context) {
      for (const targetSlug of ['staging', 'production']) {
        const {items} = await good.listDeployments({targetSlug, limit: 1}, context);
        if (items[0]?.bundleId === bundleId) throw backendError('ERR_REJECTED', 'in use');
      }
      await good.deleteBundle({bundleId}, context);
    },
  })),
  broken('forgets a bundle before the service has deleted it', (good) => {
    const forgotten = new Set<BundleId>();
    return {
      deleteBundle: async ({bundleId}, context) => {
        if (forgotten.has(bundleId)) throw backendError('ERR_BUNDLE_UNKNOWN', 'there is none');
        forgotten.add(bundleId);
        await good.deleteBundle({bundleId}, context);
      },
      listBundles: async (range, context) => {
        const {items, cursor} = await good.listBundles(range, context);
        return {items: items.filter((item) => !forgotten.has(item.bundleId)), cursor};
      },
    };
  }),
  brokenCall(
    'reports a lost answer as a failure of the network, after eight other requests',
    'deploy',
    async (call, context) => {
      for (let requests = 0; requests < 8; requests += 1) await lookAtAccount(context);
      return mistaking('ERR_OUTCOME_UNKNOWN', 'ERR_NETWORK')(call, context);
    },
  ),
  broken('denies an upload if it cannot look for it when an answer is lost', (good) => ({
    upload: (bundle, context) =>
      good.upload(bundle, context).catch(async (error: unknown) => {
        if (Object(error).code !== 'ERR_OUTCOME_UNKNOWN') throw error;
        const [newest] = await firstOf(good.listBundles, {limit: 1}, context);
        if (newest?.message !== bundle.message) throw error;
        return {bundleId: newest.bundleId, raw: undefined};
      }),
  })),
  brokenCall('adds an access header again when an answer is lost', 'changeAccess', (call, context) =>
    call(context).catch((error: unknown) => {
      if (Object(error).code !== 'ERR_OUTCOME_UNKNOWN') throw error;
      return call(context);
    }),
  ),
  broken('takes a bundle for live whose deployment has failed', (good) => ({
    listBundles: async (range, context) => {
      const {items, ...page} = await good.listBundles(range, context);
      const newest = new Map<string, BundleId | undefined>();
      for (const targetSlug of ['staging', 'production']) {
        const {items: deployments} = await good.listDeployments({targetSlug, limit: 1}, context);
        newest.set(targetSlug, deployments[0]?.bundleId);
      }
      const inUseBy = (id: BundleId) => [...newest].filter(([, live]) => live === id).map(([targetSlug]) => targetSlug);
      return {...page, items: items.map((item) => ({...item, inUseBy: inUseBy(item.bundleId)}))};
    },
  })),
  broken('lists only one of two deployments at the same time', (good) => ({
    async deploy(request, context) {
      const {origin = ''} = context.options;
      const others = deploying.get(origin) ?? 0;
      deploying.set(origin, others + 1);
      const result = await good.deploy(request, context).finally(() => deploying.set(origin, others));
      if (others > 0) unlisted.add(result.deployment.deploymentId);
      return result;
    },
    listDeployments: (range, context) => withoutUnlisted(good.listDeployments(range, context)),
  })),
  broken('takes back the newest deployment when one is aborted', (good) => ({
    deploy({bundleId, targetSlug}, context) {
      context.onAbort(async (cleanup) => {
        const {items} = await good.listDeployments({targetSlug, limit: 1}, {...context, ...cleanup});
        unlisted.add(items[0]?.deployment.deploymentId);
      });
      return good.deploy({bundleId, targetSlug}, context);
    },
    listDeployments: (range, context) => withoutUnlisted(good.listDeployments(range, context)),
  })),
  brokenCall('says that a deployment that is refused may be live', 'deploy', async (call, context) => {
    await lookAtAccount(context);
    return mistaking(401, 'ERR_OUTCOME_UNKNOWN')(call, context);
  }),
  broken('succeeds in a deployment that has lost against another one at the same time', (good) => ({
    async deploy({bundleId, targetSlug}, context) {
      const {origin = ''} = context.options;
      const others = deploying.get(origin) ?? 0;
      if (others > 0) return {deployment: {deploymentId: 'lost', targetSlug}, status: 'finished'};
      deploying.set(origin, others + 1);
      return good.deploy({bundleId, targetSlug}, context).finally(() => deploying.set(origin, others));
    },
  })),
  brokenCall('does not say that a target is busy', 'deploy', mistaking(409, 'ERR_REJECTED')),
  brokenCall('reports a deployment that is accepted as finished', 'deploy', asFinished),
  brokenCall('reports a promotion that is accepted as finished', 'promote', asFinished),
  brokenCall('takes a deployment whose connection breaks for finished', 'deploy', (call, context) =>
    call(context).catch((error: unknown) => {
      if (!['ERR_OUTCOME_UNKNOWN', 'ERR_NETWORK'].includes(Object(error).code)) throw error;
      return {deployment: {}, status: 'finished'};
    }),
  ),
  broken('promotes to the target that the bundle runs on', (good) => ({
    promote: ({bundleId, from}, context) => good.promote({bundleId, from, to: from}, context),
  })),
  broken('promotes without a look at the target that the bundle is to run on', (good) => ({
    promote: ({bundleId, to}, context) => good.deploy({bundleId, targetSlug: to}, context),
  })),
  brokenCall('reports a failed deployment as finished', 'getDeployment', async (call, context) => {
    const state = Object(await call(context)) as {readonly status: string};
    return {...state, status: state.status === 'failed' ? 'finished' : state.status};
  }),
  broken('lists deployments under other IDs than it returned', (good) => ({
    async deploy(request, context) {
      const {deployment, ...result} = await good.deploy(request, context);
      return {...result, deployment: {...deployment, deploymentId: `x${String(deployment.deploymentId)}`}};
    },
    getDeployment: ({deploymentId, ...deployment}, context) =>
      good.getDeployment({...deployment, deploymentId: String(deploymentId).replace(/^x/, '')}, context),
  })),
  broken('checks the newest deployment', (good) => ({
    getDeployment: async (deployment, context) => good.getDeployment(await newest(good, deployment, context), context),
  })),
  brokenCall('reports a deployment that does not exist as finished', 'getDeployment', (call, context) =>
    call(context).catch((error: unknown) => {
      if (Object(error).status !== 404) throw error;
      return {status: 'finished'};
    }),
  ),

  brokenItems('lists a digest that is not that of the archive', 'listBundles', {
    sha256: () => '0'.repeat(64),
  }),
  brokenItems('lists file names instead of messages', 'listBundles', {message: () => 'bundle.tar.gz'}),
  brokenItems('lists deployments with empty messages', 'listDeployments', {message: () => ''}),
  broken('lists the message of the newest bundle for each deployment', (good) => ({
    async listDeployments(range, context) {
      const {items, ...page} = await good.listDeployments(range, context);
      const [newest] = (await good.listBundles({limit: 1}, context)).items;
      return {...page, items: items.map((item) => ({...item, message: newest?.message}))};
    },
  })),
  broken('keeps only the ASCII of a message', (good) => ({
    upload: (bundle, context) =>
      good.upload({...bundle, message: bundle.message.replaceAll(/\P{ASCII}/gu, '?')}, context),
  })),
  brokenItems('reports a local time without its zone', 'listBundles', {
    createdAt: (time: string) => time.replace('Z', ''),
  }),
  brokenItems('reports a local time as that of UTC', 'listBundles', {
    createdAt: (time: string) => isoTime(Date.parse(time) - 4 * 3_600_000),
  }),
  brokenItems('mistakes seconds for milliseconds', 'listDeployments', {
    createdAt: (time: string) => isoTime(Date.parse(time) / 1000),
  }),
  brokenItems('reports the time of the list as that of the upload', 'listBundles', {
    createdAt: () => isoTime(Date.now()),
  }),
  brokenItems('lists bundles that are never ready', 'listBundles', {status: () => 'preparing'}),
  broken('continues at its own limit, not where the service ends a page', (good) => ({
    listBundles: async (range, context) => {
      const page = await good.listBundles(range, context);
      return {...page, cursor: page.cursor && String(Number(range.cursor ?? 0) + range.limit)};
    },
  })),
  brokenCursor('pages by offset through bundles, which new ones move', 'listBundles'),
  broken('keeps the last twenty deployments', (good) => ({
    listDeployments: async ({limit, cursor, targetSlug}, context) => {
      const before = Number(cursor ?? 0);
      const most = Math.min(limit, 5, 20 - before);
      const page = await good.listDeployments({limit: most, cursor, targetSlug}, context);
      const next = before + page.items.length;
      return {items: page.items, cursor: page.cursor && next < 20 ? String(next) : undefined};
    },
  })),
  broken('cuts messages after 2,000 characters', (good) => ({
    upload: (bundle, context) => good.upload({...bundle, message: bundle.message.slice(0, 2000)}, context),
  })),
  broken('gives the same ID to bundles that it begins to upload at the same time', (good) => ({
    upload: (bundle, context) => {
      const {origin = ''} = context.options;
      const other = begun.get(origin);
      if (other !== undefined && other.sha256 !== bundle.sha256) return other.result;
      const result = good.upload(bundle, context).finally(() => begun.delete(origin));
      begun.set(origin, {sha256: bundle.sha256, result});
      return result;
    },
  })),
  broken('ignores the cursor of a history', (good) => ({
    listDeployments: ({limit, targetSlug}, context) => good.listDeployments({limit, targetSlug}, context),
  })),
  brokenCall('reports the length of the page as the total', 'listBundles', async (call, context) => {
    const page = Object(await call(context)) as ListResult<unknown>;
    return {...page, total: page.items.length};
  }),
  brokenCall('lists the oldest deployment of a page first', 'listDeployments', async (call, context) => {
    const page = Object(await call(context)) as ListResult<unknown>;
    return {...page, items: page.items.toReversed()};
  }),
  brokenItems('says that a target runs every bundle', 'listBundles', {inUseBy: () => ['staging']}),
  brokenItems('lists deployments that never finish', 'listDeployments', {status: () => 'in_progress'}),
  brokenItems('lists failed deployments as finished', 'listDeployments', {status: () => 'finished'}),
  broken('always lists the deployments of the same target', (good) => ({
    listDeployments: (request, context) => good.listDeployments({...request, targetSlug: 'staging'}, context),
  })),
  broken('keeps one history for all projects', (good) => ({
    listDeployments: (request, context) =>
      good.listDeployments(request, {...context, projectSlug: context.projectSlug.replace(/-2$/, '')}),
  })),
  brokenItems('lists deployments by references that it cannot use', 'listDeployments', {
    deployment: ({deploymentId}: DeploymentRef) => ({deploymentId}),
  }),
  brokenCall('lists a target for each of its deployments', 'listTargets', async (call, context) => {
    const page = Object(await call(context)) as ListResult<unknown>;
    return {items: [...page.items, ...page.items]};
  }),
  broken('chooses the slugs of targets, but does not list their names', (good) => ({
    targetSlugs: 'assigned',
    createTarget: ({targetSlug, ...request}, context) =>
      good.createTarget({...request, targetSlug: `env-${targetSlug}`}, context),
    listTargets: changeItems(good.listTargets, {name: () => undefined}),
  })),
  brokenItems('reports the hosts of targets as their URLs', 'listTargets', {
    url: (url: string) => url.replace('https://', ''),
  }),
  brokenItems('does not list production targets as such', 'listTargets', {production: () => false}),
  brokenCall('lists a target that it cannot deploy to', 'listTargets', async (call, context) => {
    const page = Object(await call(context)) as ListResult<unknown>;
    return page.cursor === undefined
      ? {items: [...page.items, {targetSlug: 'staging-2'}]}
      : {...page, total: undefined};
  }),

  broken(
    'reports a digest that is not that of the downloaded bytes',
    starting((start) => ({...start, sha256: '0'.repeat(64)})),
  ),
  broken('ignores that a download is aborted while it writes', (good) => ({
    download: async ({writeTo, ...request}, context) => {
      const passing = new PassThrough();
      const [content] = await Promise.all([buffer(passing), good.download({...request, writeTo: passing}, context)]);
      if (!writeTo.write(content)) await once(writeTo, 'drain');
    },
  })),
  broken('says that it resumes a download, but starts over', (good) => ({
    download: ({resume, onStart, ...request}, context) =>
      good.download(
        {
          ...request,
          onStart: (start) =>
            onStart?.({...start, offset: resume?.validator === start.validator ? (resume?.offset ?? 0) : 0}),
        },
        context,
      ),
  })),
  broken('swaps the parts of a large download', (good) => ({
    download: async ({writeTo, ...request}, context) => {
      const passing = new PassThrough();
      const [content] = await Promise.all([buffer(passing), good.download({...request, writeTo: passing}, context)]);
      const mebibyte = 1024 * 1024;
      const parts = [content.subarray(mebibyte, 2 * mebibyte), content.subarray(0, mebibyte)];
      await pipeline([...parts, content.subarray(2 * mebibyte)], writeTo, {signal: context.signal});
    },
  })),
  broken('resumes a download one byte late beyond its first part', (good) => ({
    download: ({resume, onStart, ...request}, context) => {
      const late = resume && resume.offset > 1e6 ? {...resume, offset: resume.offset + 1} : resume;
      const started = (start: DownloadStart) =>
        onStart?.({...start, offset: start.offset && (resume?.offset ?? start.offset)});
      return good.download({...request, resume: late, onStart: started}, context);
    },
  })),
  broken(
    'reports the rest of a download as its total',
    starting(({offset, total = 0, ...start}) => ({...start, offset, total: total - offset})),
  ),
  broken(
    'reports the same validator for every archive',
    starting((start) => ({...start, validator: '"1"'})),
  ),
  broken('deletes nothing', (good) => ({
    deleteBundle: async ({bundleId}, context) => {
      const {items} = await good.listBundles({limit: 5}, context);
      if (!items.some((item) => item.bundleId === bundleId)) await good.deleteBundle({bundleId}, context);
    },
  })),
  broken('deletes a bundle twice', (good) => {
    const deleted = new Set<BundleId>();
    return {
      deleteBundle: async (request, context) => {
        if (!deleted.has(request.bundleId)) await good.deleteBundle(request, context);
        deleted.add(request.bundleId);
      },
    };
  }),
  broken('reports an unknown ID of its own form as finished', (good) => ({
    getDeployment: (deployment, context) => {
      const couldBe = /^\.\.\/\d{6}\?ü \d+#%$/.test(String(deployment.deploymentId));
      return good.getDeployment(deployment, context).catch((error: unknown) => {
        if (!couldBe || Object(error).status !== 404) throw error;
        return {status: 'finished'};
      });
    },
  })),
  broken('puts IDs of deployments into URLs as they are', (good) => ({
    getDeployment: ({deploymentId, ...deployment}, context) =>
      good.getDeployment({...deployment, deploymentId: String(deploymentId).replace(/\?$/, '')}, context),
  })),
  brokenIds('puts IDs into URLs as they are', (id) => id.replace(/\?$/, '')),
  brokenIds('puts IDs into SQL as they are', async (id, context) => {
    if (!id.includes("'or'")) return id;
    const {items} = await createShelfBackend().listBundles({limit: 1}, context);
    return String(items[0]?.bundleId ?? id);
  }),
  brokenIds('treats IDs as LIKE patterns of SQL', async (id, context) => {
    const {items} = await createShelfBackend().listBundles({limit: 5}, context);
    return String(items.find(({bundleId}) => likePattern(id).test(String(bundleId)))?.bundleId ?? id);
  }),
  brokenIds('ignores zeros before an ID', (id) => id.replace(/^0+/, '')),
  brokenIds('ignores decimals after an ID', (id) => id.replace(/\.0+$/, '')),
  ...anywhere.map(([fault, around, members = operations]) => brokenCall(fault, members, around)),
];

/** What LIKE of SQL matches. */
function likePattern(text: string): RegExp {
  const literal = text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);
  return new RegExp(`^${literal.replaceAll('_', '.').replaceAll('%', '.*')}$`);
}

/** Takes some IDs of bundles for others. */
function brokenIds(
  fault: string,
  change: (bundleId: string, context: Context) => string | Promise<string>,
): BrokenBackend {
  return broken(fault, (good) => {
    const changes = onBundles.map((name) => {
      const own = good[name] as (request: object, context: Context) => Promise<unknown>;
      const changed = async ({bundleId, ...request}: {readonly bundleId: string}, context: Context) =>
        own({...request, bundleId: await change(bundleId, context)}, context);
      return [name, changed] as const;
    });
    return Object.fromEntries(changes);
  });
}

type ListPage<Item, Range = ListRange> = (range: Range, context: Context) => Promise<ListResult<Item>>;

/** The first items of a list, of so many pages. */
async function firstOf<Item, Range extends ListRange>(
  list: ListPage<Item, Range>,
  range: Range,
  context: Context,
  most = Infinity,
) {
  let page = await list(range, context);
  const items = [...page.items];
  while (page.cursor !== undefined && items.length < most) {
    page = await list({...range, cursor: page.cursor}, context);
    items.push(...page.items);
  }
  return items.slice(0, most);
}

/** Takes a number of items for all, when it is asked for as many. */
function brokenEnd(fault: string, member: Extract<keyof Shelf, `list${string}`>, most: number): BrokenBackend {
  return broken(fault, (good) => {
    const own = good[member] as ListPage<unknown>;
    const changed = async (range: ListRange, context: Context) =>
      range.limit < most ? own(range, context) : {items: await firstOf(own, range, context, most)};
    return {[member]: changed};
  });
}

function byText(items: readonly unknown[]): readonly unknown[] {
  return items.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

/** Pages through a list by offset. */
function brokenCursor(
  fault: string,
  member: Extract<keyof Shelf, `list${string}`>,
  sort: (items: readonly unknown[]) => readonly unknown[] = (items) => items,
): BrokenBackend {
  return broken(fault, (good) => {
    const own = good[member] as ListPage<unknown>;
    const changed = async ({limit, cursor, ...range}: ListRange, context: Context) => {
      const items = sort(await firstOf(own, {...range, limit: 5}, context));
      const end = Number(cursor ?? 0) + limit;
      return {items: items.slice(Number(cursor ?? 0), end), cursor: end < items.length ? String(end) : undefined};
    };
    return {[member]: changed};
  });
}

/** Changes redirects before the service gets them. */
function brokenRedirects(fault: string, change: (redirect: RedirectItem) => RedirectItem): BrokenBackend {
  return broken(fault, (good) => ({
    changeRedirect: ({redirect, ...request}, context) =>
      good.changeRedirect({...request, redirect: change(redirect)}, context),
  }));
}

/** Changes the lines of a log that it gets at once, or where it reads on. */
function brokenLog(
  fault: string,
  change: (lines: readonly string[]) => readonly string[] = (lines) => lines,
  {start = Infinity, goOn = (next: number) => next} = {},
): BrokenBackend {
  return broken(fault, () => ({
    async *tailLogs({targetSlug}, context) {
      for (let after = start; ;) {
        const request = {headers: authorized(context), searchParams: {after}};
        const answer = context.http(urlOf(context, 'tail', targetSlug), request);
        const {lines, next} = await answer.json<{lines: string[]; next: number}>();
        for (const message of change(lines)) yield {message};
        after = goOn(next);
        await delay(10, undefined, {signal: context.signal}).catch(() => context.signal.throwIfAborted());
      }
    },
  }));
}

/** Follows the logs of another place, too. */
function brokenFollower(fault: string, elsewhere: (target: TargetIn) => TargetIn): BrokenBackend {
  return broken(fault, (good) => ({
    async *tailLogs({targetSlug}, context) {
      const other = elsewhere({targetSlug, projectSlug: context.projectSlug});
      const others = good.tailLogs(other, {...context, projectSlug: other.projectSlug})[Symbol.asyncIterator]();
      const next = () => others.next().catch(() => undefined);
      let foreign = next();
      for await (const entry of good.tailLogs({targetSlug}, context)) {
        const found = await Promise.race([foreign, delay(200)]);
        if (found?.value) yield found.value;
        if (found) foreign = next();
        yield entry;
      }
    },
  }));
}

/** Removes more variables than the named ones. */
function brokenRemoval(fault: string, isRemoved: (removed: string, name: string) => boolean): BrokenBackend {
  return broken(fault, (good) => ({
    async setVariables({targetSlug, set, unset}, context) {
      const names = (await firstOf(good.listVariables, {targetSlug, limit: 5}, context)).map(({name}) => name);
      const alike = names.filter((name) => unset.some((one) => isRemoved(one, name)) && !Object.hasOwn(set, name));
      await good.setVariables({targetSlug, set, unset: [...unset, ...alike]}, context);
    },
  }));
}

/** Changes settings before the service gets them. */
function brokenSettings(fault: string, change: (settings: TargetSettings) => TargetSettings): BrokenBackend {
  return broken(fault, (good) => ({
    updateTarget: ({settings, ...request}, context) =>
      good.updateTarget({...request, settings: change(settings)}, context),
  }));
}

/** Changes the values of variables. */
function brokenValues(fault: string, change: (value: string) => string): BrokenBackend {
  return broken(fault, (good) => ({
    setVariables: ({set, ...request}, context) => {
      const values = Object.entries(set).map(([name, value]) => [name, change(value)] as const);
      return good.setVariables({...request, set: Object.fromEntries(values)}, context);
    },
  }));
}

/** The same backend with a client of its own, whose requests the suite only sees as bytes on their way. */
export function withOwnClient(backend: Backend): Backend {
  const withOwn = async (context: Context) => {
    const {timeouts: _, ...given} = context;
    const {http, openStream} = await createBackendContext({...given, rateLimit: fastRetries, userAgent: 'sdk'});
    return {...context, http, openStream};
  };
  const good = backend as unknown as Shelf;
  const members = operations.map((name) => {
    const own = good[name] as (...all: readonly unknown[]) => Promise<unknown>;
    const member = async (...given: readonly unknown[]) =>
      own(...given.slice(0, -1), await withOwn(given.at(-1) as Context));
    return [name, member] as const;
  });
  return {
    ...backend,
    ...Object.fromEntries(members),
    async *tailLogs(request, context) {
      yield* good.tailLogs(request, await withOwn(context as Context));
    },
  };
}

/** Takes some projects for the same. */
function brokenProjects(fault: string, change: (slug: string) => string): BrokenBackend {
  return brokenCall(fault, operations, (call, context) => call({...context, projectSlug: change(context.projectSlug)}));
}

/** Members about a target, which their request names. */
const ofTargets = [
  ...(['deploy', 'listDeployments', 'createTarget', 'deleteTarget', 'readTarget', 'updateTarget'] as const),
  ...(['listRedirects', 'changeRedirect', 'listAccess', 'changeAccess', 'listVariables', 'setVariables'] as const),
];

/** Takes some targets for others, of which those that are there are known. */
function brokenSlugs(fault: string, change: (slug: string, known: readonly string[]) => string): BrokenBackend {
  return broken(fault, (good) => {
    const changes = ofTargets.map((member) => {
      const own = good[member] as (request: object, context: Context) => Promise<unknown>;
      const changed = async (request: {readonly targetSlug: string}, context: Context) => {
        const {items} = await good.listTargets({limit: 5}, context);
        const known = items.map(({targetSlug}) => targetSlug);
        return own({...request, targetSlug: change(request.targetSlug, known)}, context);
      };
      return [member, changed] as const;
    });
    return Object.fromEntries(changes);
  });
}

/** The slugs of other targets that begin with this one, and are behind what belongs to it in a store of keys. */
async function slugsAfter(own: string, good: Shelf, context: Context): Promise<readonly string[]> {
  const slugs = (await firstOf(good.listTargets, {limit: 5}, context)).map(({targetSlug}) => targetSlug);
  return slugs.filter((slug) => slug.startsWith(own) && slug > `${own}/`);
}

function inFirstProject(context: Context): Context {
  return {...context, projectSlug: context.projectSlug.replace(/-2$/, '')};
}

/** Asks for the bundles of another project, too. */
function findingOthers(call: Call, context: Context) {
  return call(context).catch((error: unknown) => {
    if (Object(error).status !== 404) throw error;
    return call(inFirstProject(context));
  });
}

function withBytes(bundle: Bundle, content: Buffer): Bundle {
  const createReadStream: Bundle['createReadStream'] = ({start = 0, end = content.length - 1} = {}) =>
    Readable.from([content.subarray(start, end + 1)]);
  return {...bundle, createReadStream};
}

/** A bundle with another byte at a place, if it is that large. */
function changed(bundle: Bundle, place: number): Bundle {
  const createReadStream: Bundle['createReadStream'] = (range = {}) => {
    const read = async function* () {
      let position = range.start ?? 0;
      for await (const chunk of bundle.createReadStream(range) as AsyncIterable<Buffer>) {
        const copy = Buffer.from(chunk);
        const index = place - position;
        if (index >= 0 && index < copy.length) copy.writeUInt8(copy.readUInt8(index) ^ 1, index);
        position += chunk.length;
        yield copy;
      }
    };
    return Readable.from(read(), {objectMode: false});
  };
  return {...bundle, createReadStream};
}

type Lister = 'listBundles' | 'listDeployments' | 'listTargets' | 'listProjects';
type Changes = Readonly<Record<string, (value: never) => unknown>>;

/** The same list, with changes to members of each item. */
function changeItems<List extends Shelf[Lister]>(list: List, changes: Changes): List {
  const changed = async (range: never, context: Context) => {
    const {items, ...page} = (await list(range, context)) as unknown as ListResult<Readonly<Record<string, unknown>>>;
    const change = (item: Readonly<Record<string, unknown>>) => {
      const values = Object.entries(changes).map(([name, of]) => [name, of(item[name] as never)] as const);
      return {...item, ...Object.fromEntries(values)};
    };
    return {...page, items: items.map(change)};
  };
  return changed as unknown as List;
}

/** Changes members of each item of a list. */
function brokenItems(fault: string, member: Lister, changes: Changes): BrokenBackend {
  return broken(fault, (good) => ({[member]: changeItems(good[member], changes)}));
}

/** Says something else when a download starts. */
function starting(change: (start: DownloadStart) => DownloadStart): Change {
  return (good) => ({
    download: ({onStart, ...request}, context) =>
      good.download({...request, onStart: (start) => onStart?.(change(start))}, context),
  });
}

/** Asks for something that has nothing to do with what is to be done. */
async function lookAtAccount(context: Context): Promise<void> {
  await context.http(`${String(context.options.origin)}/me`, {headers: authorized(context)});
}

/** Does not send a request again when its answer is lost. */
function givingUpWithoutAnswer(call: Call, context: Context) {
  const http = context.http.extend({repeatable: false});
  const openStream: Context['openStream'] = (url, options) => context.openStream(url, {...options, http});
  return call({...context, http, openStream});
}

/** Does not send a request again after a 429, as an SDK with a client of its own. */
async function givingUpAtLimits(call: Call, context: Context) {
  const {timeouts: _, ...given} = context;
  const {http, openStream} = await createBackendContext({...given, rateLimit: {statusCodes: []}, userAgent: 'sdk'});
  return call({...context, http, openStream});
}

/** A history without the deployments that are in no list. */
async function withoutUnlisted(history: Promise<ListResult<DeploymentItem>>): Promise<ListResult<DeploymentItem>> {
  const {items, cursor} = await history;
  return {items: items.filter(({deployment}) => !unlisted.has(deployment.deploymentId)), cursor};
}

/** Takes a refusal with this status for success. */
async function ignoring<Answer = never>(status: number, answer: Promise<unknown>): Promise<Answer> {
  const ignored = await answer.catch((error: unknown) => {
    if (Object(error).status !== status) throw error;
    return {items: [], targetSlug: 'conformance-new', settings: {}, raw: undefined};
  });
  return ignored as Answer;
}

function tryingAgain(call: Call, context: Context) {
  return call(context).catch((error: unknown) => {
    if (Object(error).status !== 429) throw error;
    return call(context);
  });
}

async function asFinished(call: Call, context: Context) {
  return {...Object(await call(context)), status: 'finished'};
}

function ignoringAborts(call: Call, context: Context) {
  return call(context).catch((error: unknown) => unlessAborted(error, context));
}

/** Never ends once it is aborted. */
async function unlessAborted(error: unknown, {signal}: Context): Promise<never> {
  if (signal.aborted) await new Promise(() => undefined);
  throw error;
}

function isoTime(time: number): string {
  return new Date(time).toISOString();
}

async function newest(good: Shelf, deployment: DeploymentRef, context: Context): Promise<DeploymentRef> {
  const {targetSlug} = deployment as {readonly targetSlug: string};
  const {items} = await good.listDeployments({limit: 1, targetSlug}, context);
  return items[0]?.deployment ?? deployment;
}
