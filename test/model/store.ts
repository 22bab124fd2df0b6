import {isUnderWay} from '../../src/backends/members.js';
import type {Answer, RequestName} from './wire.js';

/** A bundle of the model. */
export interface StoredBundle {
  readonly id: number;
  readonly message: string;
  readonly createdAt: string;
}

/** A deployment of the model. It goes one step on each time that somebody looks at it. */
export interface StoredDeployment {
  readonly id: string;
  readonly target: string;
  readonly bundle: number;
  readonly createdAt: string;
  status: 'queued' | 'in_progress' | 'finished' | 'failed';
}

/** How a service begins, and what it makes of deployments. */
export interface World {
  /** Deployments of new bundles fail. */
  readonly failing?: boolean | undefined;
  /** What runs new bundles answers with 500. */
  readonly unhealthy?: boolean | undefined;
  /** Another deployment to staging is running at first. */
  readonly busy?: boolean | undefined;
}

/** What a service carried out for one request. */
export interface Effect {
  readonly bundle?: number;
  readonly deployment?: StoredDeployment;
  readonly deleted?: number;
  /** The target that was made, deleted or invalidated. */
  readonly target?: string;
  /** The variables that there are now. */
  readonly variables?: string;
}

/** How a request ended. */
interface Outcome {
  readonly answer: Answer;
  readonly effect?: Effect;
}

const start = Date.parse('2026-01-01T00:00:00Z');
const legacyWords = {queued: 'Queued', in_progress: 'In Progress', finished: 'Finished', failed: 'Failed'} as const;
const json = (status: number, value: unknown): Answer => ({
  status,
  type: 'application/json',
  body: JSON.stringify(value),
});
const refusal = (status: number): Outcome => ({
  answer: json(status, {detail: `The model says ${status}.`, message: 'No.'}),
});

/** One of the two services: its bundles, its targets and their deployments. Staging runs the fourth bundle. */
export class Store {
  readonly bundles = new Map<number, StoredBundle>();
  readonly deployments: StoredDeployment[] = [];
  readonly targets = new Set(['staging', 'production']);
  readonly variables = new Set<string>();
  readonly redirects: object[] = [];
  readonly access: {readonly id: string}[] = [];
  hasSourceMaps = false;
  isPrimary = false;
  readonly firstBundles: readonly number[];
  #made = 0;

  constructor(
    readonly name: 'api' | 'legacy',
    private readonly world: World,
  ) {
    const base = name === 'api' ? 700 : 40;
    this.firstBundles = [1, 2, 3, 4, 5].map((number) => this.addBundle(`bundle ${number}`, base + number));
    const [, , third = 0, fourth = 0] = this.firstBundles;
    for (const [target, bundle] of [
      ['staging', third],
      ['production', third],
      ['staging', fourth],
    ] as const)
      this.addDeployment(target, bundle).status = 'finished';
    if (world.busy) this.addDeployment('staging', third);
  }

  /** The bundle that a target runs. */
  running(target: string): number | undefined {
    return this.deployments.findLast((one) => one.target === target && one.status === 'finished')?.bundle;
  }

  /** Ends what is in progress. */
  settle(): void {
    for (const one of this.deployments) while (isUnderWay(one.status)) this.advance(one);
  }

  /** Carries out a request. Resolves to the right answer, with what was done. */
  answer(name: RequestName, path: string, body: Buffer, origin: string): Outcome {
    const isApi = this.name === 'api';
    const [, target = 'staging'] = /\/(?:environments|target|builds)\/([^/]+)/.exec(path) ?? [];
    const id = Number(/\/bundles\/(\d+)\//.exec(path)?.[1]);
    const list = (rows: readonly unknown[]) => ({answer: this.page(rows, new URLSearchParams(path.split('?')[1]))});
    const deployments = this.deployments.filter((one) => one.target === target).toReversed();
    switch (name) {
      case 'upload': {
        const isCombined = /\/builds\/./.test(path);
        if (isCombined && this.isBusy(target)) return refusal(409);
        const bundle = this.addBundle(/name="message"\r\n\r\n(.*)\r\n/.exec(body.toString('latin1'))?.[1] ?? 'v1');
        const effect = {bundle, ...(isCombined && {deployment: this.addDeployment(target, bundle)})};
        if (isApi) return {answer: json(201, {bundleId: bundle}), effect};
        if (!path.includes('/builds/')) return {answer: json(201, {id: bundle}), effect};
        return {answer: json(200, {bundle_id: bundle, message: 'm', url: `${origin}/site/${target}`}), effect};
      }
      case 'deploy': {
        const sent = JSON.parse(body.toString()) as {readonly bundleId?: number; readonly bundle_id?: number};
        const bundle = sent.bundleId ?? sent.bundle_id ?? 0;
        if (!this.bundles.has(bundle)) return refusal(404);
        if (this.isBusy(target)) return refusal(409);
        const deployment = this.addDeployment(target, bundle);
        return {answer: json(201, isApi ? this.row(deployment) : {}), effect: {deployment}};
      }
      case 'delete':
        return this.bundles.delete(id) ? {answer: {status: 202, body: ''}, effect: {deleted: id}} : refusal(404);
      case 'download':
        if (!this.bundles.has(id)) return refusal(404);
        return {answer: json(200, {download_url: `${origin}/archive/${id}?signature=canary-url`})};
      case 'list':
        return list([...this.bundles.values()].reverse().map((one) => this.bundleRow(one)));
      case 'targets':
        return list([...this.targets].map((slug) => this.targetRow(slug, origin)));
      case 'create-target': {
        const sent = JSON.parse(body.toString()) as {readonly slug?: string; readonly displayName?: string};
        const slug = sent.slug ?? `${sent.displayName ?? ''}-1a2b`;
        if (this.targets.has(slug)) return refusal(409);
        this.targets.add(slug);
        return {answer: json(isApi ? 202 : 201, this.targetRow(slug, origin)), effect: {target: slug}};
      }
      case 'delete-target':
        if (!this.targets.delete(target)) return refusal(404);
        return {answer: {status: isApi ? 202 : 204, body: ''}, effect: {target}};
      case 'variables':
        return {answer: json(200, Object.fromEntries([...this.variables].map((name) => [name, {value: '****'}])))};
      case 'set-variables':
        for (const name of Object.keys(JSON.parse(body.toString()) as object)) this.variables.add(name);
        return {answer: {status: 204, body: ''}, effect: {variables: [...this.variables].join()}};
      case 'invalidate':
        return {
          answer: isApi ? {status: 202, body: ''} : json(201, {result: 'accepted', slug: target}),
          effect: {target},
        };
      case 'look':
        return list(deployments.map((one) => this.row(one)));
      case 'history':
        for (const one of deployments) this.advance(one);
        return list(deployments.map((one) => this.row(one)));
      case 'deployment': {
        const found = deployments.find((one) => path.includes(one.id));
        if (found === undefined) return refusal(404);
        this.advance(found);
        return {answer: json(200, this.row(found))};
      }
      case 'target':
        return {answer: json(200, this.targetRow(target, origin))};
      case 'update-target':
        this.hasSourceMaps = true;
        return {answer: json(200, this.targetRow(target, origin)), effect: {target}};
      case 'primary':
        this.isPrimary = true;
        return {answer: json(200, this.targetRow(target, origin)), effect: {target}};
      case 'redirects':
        return list(this.redirects);
      case 'change-redirects': {
        const row = {...(JSON.parse(body.toString()) as object), ...(isApi && {id: 'r-1'})};
        this.redirects.push(row);
        return {answer: json(201, row), effect: {target}};
      }
      case 'access':
        return list(this.access);
      case 'change-access':
        this.access.push({id: `a-${this.access.length}`});
        return {answer: json(201, this.access.at(-1)), effect: {target}};
      case 'projects':
      case 'api-key':
      case 'log-token':
      case 'logs':
      case 'token':
      case 'archive':
      case 'openapi':
      case 'site':
      case 'other':
        return refusal(404);
    }
  }

  private targetRow(slug: string, origin: string): unknown {
    const url = `${origin}/site/${slug}`;
    const {hasSourceMaps, isPrimary} = this;
    if (this.name === 'legacy') return {slug, name: slug, state: 'ACTIVE', url, enable_source_maps: hasSourceMaps};
    const row = {environmentId: slug, displayName: slug.replace(/-1a2b$/, ''), status: 'ready', mrtOrigin: url};
    return {...row, isPrimary, enableSourceMaps: hasSourceMaps};
  }

  private addBundle(message: string, id = Math.max(...this.bundles.keys()) + 1): number {
    this.bundles.set(id, {id, message, createdAt: this.now()});
    return id;
  }

  private addDeployment(target: string, bundle: number): StoredDeployment {
    const id = `0b9f6a1e-0000-4000-8000-${String(this.deployments.length).padStart(12, '0')}`;
    const made: StoredDeployment = {id, target, bundle, createdAt: this.now(), status: 'queued'};
    this.deployments.push(made);
    return made;
  }

  private now(): string {
    return new Date(start + 1000 * (this.#made += 1)).toISOString();
  }

  private isBusy(target: string): boolean {
    return this.deployments.some((one) => one.target === target && isUnderWay(one.status));
  }

  private advance(one: StoredDeployment): void {
    if (one.status === 'queued') one.status = 'in_progress';
    else if (one.status === 'in_progress')
      one.status = this.world.failing && !this.firstBundles.includes(one.bundle) ? 'failed' : 'finished';
  }

  private bundleRow({id, message, createdAt}: StoredBundle): unknown {
    if (this.name === 'api') return {bundleId: id, description: message, status: 'ok', creationDate: createdAt};
    return {id, message, status: 1, deletion_status: 'ACTIVE', created_at: createdAt};
  }

  private row({id, bundle, createdAt, status}: StoredDeployment): unknown {
    if (this.name === 'api') return {deploymentId: id, status, bundle: {bundleId: bundle}, creationDate: createdAt};
    return {bundle: {id: bundle, message: 'm'}, status: legacyWords[status], created_at: createdAt};
  }

  private page(rows: readonly unknown[], range: URLSearchParams): Answer {
    const [limit, offset] = [Number(range.get('limit') ?? 25), Number(range.get('offset') ?? 0)];
    const part = rows.slice(offset, offset + Math.min(limit, 200));
    if (this.name === 'api') return json(200, {limit, offset, total: rows.length, data: part});
    return json(200, {count: rows.length, next: null, previous: null, results: part});
  }
}
