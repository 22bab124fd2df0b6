import type {Answer} from './wire.js';

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
}

const start = Date.parse('2026-01-01T00:00:00Z');
const legacyWords = {queued: 'Queued', in_progress: 'In Progress', finished: 'Finished', failed: 'Failed'} as const;
const json = (status: number, value: unknown): Answer => ({
  status,
  type: 'application/json',
  body: JSON.stringify(value),
});
const refusal = (status: number) => json(status, {detail: `The model says ${status}.`, message: 'No.'});

/** One of the two services: its bundles, its targets and their deployments. Staging runs the fourth bundle. */
export class Store {
  readonly bundles = new Map<number, StoredBundle>();
  readonly deployments: StoredDeployment[] = [];
  readonly firstBundles: readonly number[];
  readonly firstDeployments: number;
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
    this.firstDeployments = this.deployments.length;
  }

  /** The bundle that a target runs. */
  running(target: string): number | undefined {
    return this.deployments.findLast((one) => one.target === target && one.status === 'finished')?.bundle;
  }

  /** Ends what is in progress. */
  settle(): void {
    for (const one of this.deployments) while (this.isUnderway(one)) this.advance(one);
  }

  /** The right answer to a request, which is carried out. Undefined: nothing is served there. */
  answer(
    name: string,
    path: string,
    body: Buffer,
    origin: string,
  ): {readonly answer: Answer; readonly effect?: Effect} {
    const [, target = 'staging'] = /\/(?:environments|target|builds)\/([^/]+)/.exec(path) ?? [];
    const range = new URLSearchParams(path.split('?')[1]);
    const isApi = this.name === 'api';
    const id = Number(/\/bundles\/(\d+)\//.exec(path)?.[1]);
    switch (name) {
      case 'upload': {
        if (/\/builds\/./.test(path) && this.isBusy(target)) return {answer: refusal(409)};
        const bundle = this.addBundle(/name="message"\r\n\r\n(.*)\r\n/.exec(body.toString('latin1'))?.[1] ?? 'v1');
        const combined = /\/builds\/./.test(path) ? {deployment: this.addDeployment(target, bundle)} : {};
        const isV1 = path.includes('/builds/');
        const v1 = {bundle_id: bundle, message: 'm', url: `${origin}/site/${target}`};
        const sent = isV1 ? v1 : isApi ? {bundleId: bundle} : {id: bundle};
        return {answer: json(isV1 ? 200 : 201, sent), effect: {bundle, ...combined}};
      }
      case 'deploy': {
        const {bundleId, bundle_id: legacyId = bundleId} = JSON.parse(body.toString()) as Record<string, number>;
        if (legacyId === undefined || !this.bundles.has(legacyId)) return {answer: refusal(404)};
        if (this.isBusy(target)) return {answer: refusal(409)};
        const deployment = this.addDeployment(target, legacyId);
        return {answer: json(201, isApi ? this.row(deployment) : {}), effect: {deployment}};
      }
      case 'delete':
        if (!this.bundles.delete(id)) return {answer: refusal(404)};
        return {answer: {status: 202, body: ''}, effect: {deleted: id}};
      case 'list':
        return {
          answer: this.page(
            [...this.bundles.values()].reverse().map((one) => this.bundleRow(one)),
            range,
          ),
        };
      case 'targets':
        return {
          answer: this.page(
            ['staging', 'production'].map((slug) => ({slug, state: 'ACTIVE', url: `${origin}/site/${slug}`})),
            range,
          ),
        };
      case 'look':
      case 'history': {
        const listed = this.deployments.filter((one) => one.target === target);
        if (name === 'history') for (const one of listed) this.advance(one);
        return {
          answer: this.page(
            listed.reverse().map((one) => this.row(one)),
            range,
          ),
        };
      }
      case 'poll': {
        const found = this.deployments.find((one) => path.includes(one.id));
        if (found) this.advance(found);
        return {answer: found ? json(200, this.row(found)) : refusal(404)};
      }
      case 'download':
        return {
          answer: this.bundles.has(id)
            ? json(200, {download_url: `${origin}/archive/${id}?signature=canary-url`})
            : refusal(404),
        };
      default:
        return {answer: refusal(404)};
    }
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

  private isUnderway({status}: StoredDeployment): boolean {
    return status === 'queued' || status === 'in_progress';
  }

  private isBusy(target: string): boolean {
    return this.deployments.some((one) => one.target === target && this.isUnderway(one));
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
