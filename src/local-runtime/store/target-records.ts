import {randomBytes} from 'node:crypto';
import {targetSettings} from '../../settings/target-settings.js';
import {HttpFailure} from '../answer.js';
import type {SiteName} from '../sites/site-address.js';
import {deploymentState, type Deployments, type DeploymentsOptions} from './deployment-records.js';
import type {DeploymentRecord, TargetRecord} from './store.js';

interface TargetsOptions extends DeploymentsOptions {
  readonly deployments: Deployments;
  readonly stopApp: (site: SiteName) => Promise<void>;
  /** How long it takes to make or to delete a target. */
  readonly seconds: number;
}

export type TargetPhase = 'creating' | 'create-failed' | 'ready' | 'publishing' | 'publish-failed' | 'deleting';

/** A target at a moment: what is known of it, and its state, which is computed from its times. */
export interface Target extends TargetRecord {
  readonly status: TargetPhase;
}

type VariableChanges = Readonly<Record<string, {readonly value: string | null}>>;

export interface TargetCreation {
  readonly name: string;
  /** The slug of another target of the project. */
  readonly copyFrom?: string | undefined;
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly user: string;
}

const variableName = /^[A-Za-z_]\w*$/;

/** The targets of all projects: those that were made, and those that a deployment has made by itself. */
export class Targets {
  constructor(private readonly options: TargetsOptions) {}

  /** The targets of a project, sorted by slug. One that is being deleted is among them. */
  list(projectSlug: string): readonly Target[] {
    const {store} = this.options;
    return store.targets(projectSlug).flatMap((targetSlug) => this.get({projectSlug, targetSlug}) ?? []);
  }

  /** @throws HttpFailure 404 if the target does not exist. */
  find(site: SiteName): Target {
    const target = this.get(site);
    if (target !== undefined) return target;
    throw new HttpFailure(404, `The target "${site.targetSlug}" does not exist. Create it, or deploy to it.`);
  }

  get({projectSlug, targetSlug}: SiteName): Target | undefined {
    const {store, now} = this.options;
    const site = {projectSlug, targetSlug};
    const stored = store.target(site);
    const own = stored?.goneAt !== undefined && stored.goneAt <= now().toISOString() ? undefined : stored;
    const deployments = store.deployments(site);
    const createdAt = deployments.at(-1)?.createdAt;
    const record = own ?? (createdAt === undefined ? undefined : {...site, ...blank, name: targetSlug, createdAt});
    return record && {...record, status: this.#phaseOf(own, deployments)};
  }

  #phaseOf(own: TargetRecord | undefined, deployments: readonly DeploymentRecord[]): TargetPhase {
    const now = this.options.now();
    if (own?.goneAt !== undefined) return 'deleting';
    if (own && now.toISOString() < own.readyAt) return 'creating';
    const [newest] = deployments;
    if (newest === undefined) return own?.outcome === 'failed' ? 'create-failed' : 'ready';
    const {status} = deploymentState(newest, now);
    if (status === 'finished') return 'ready';
    const isFirst = !own && !deployments.some((one) => deploymentState(one, now).status === 'finished');
    if (status === 'failed') return isFirst ? 'create-failed' : 'publish-failed';
    return isFirst ? 'creating' : 'publishing';
  }

  /** A slug for a new target of this name, as services make it that do not let clients choose. */
  makeSlug(name: string): string {
    const words = name.toLowerCase().match(/[a-z0-9]+/g) ?? ['target'];
    return `${words.join('-').slice(0, 12).replace(/-$/, '')}-${randomBytes(3).toString('hex')}`;
  }

  /** Makes a target. A copy gets variables, redirects and settings of its source, and runs what that runs. */
  async create(site: SiteName, {name, copyFrom, settings = {}, user}: TargetCreation): Promise<void> {
    const {store, faults, deployments, now, seconds} = this.options;
    if (this.get(site) || deployments.isDeploying(site))
      throw new HttpFailure(409, `The target "${site.targetSlug}" exists already.`);
    const source = copyFrom === undefined ? undefined : this.find({...site, targetSlug: copyFrom});
    const bundle = source && deployments.currentBundle(source);
    // Before there is a record: nothing can be deployed to a target that is being made.
    if (bundle) await deployments.deploy(site, {bundle, createdBy: user});
    const created = now();
    await store.writeTarget({
      ...site,
      ...blank,
      name,
      createdAt: created.toISOString(),
      readyAt: new Date(created.getTime() + seconds * 1000).toISOString(),
      outcome: faults.take('create-target', 'fail') ? 'failed' : 'ready',
      settings,
      ...(source && {
        variables: source.variables,
        redirects: source.redirects,
        settings: withoutUncopied(source.settings),
      }),
    });
  }

  /** Deletes a target with its deployments. @throws HttpFailure 404 if it does not exist, 409 for the primary one. */
  async remove(site: SiteName): Promise<void> {
    const {store, now, stopApp, seconds} = this.options;
    const target = this.find(site);
    const {status, primary, targetSlug} = target;
    if (status === 'deleting') return;
    if (primary) {
      throw new HttpFailure(409, `"${targetSlug}" is the primary target of its project. Choose another one first.`);
    }
    await this.#write(target, {variables: {}, goneAt: new Date(now().getTime() + seconds * 1000).toISOString()});
    await store.removeDeployments(site);
    await stopApp(site);
  }

  /** Sets and removes variables, and publishes again what the target runs. */
  async changeVariables(site: SiteName, changes: VariableChanges, user: string): Promise<void> {
    const wrong = Object.keys(changes).find((name) => !variableName.test(name));
    if (wrong !== undefined) throw new HttpFailure(400, `"${wrong}" is not the name of a variable.`);
    const updated = {updatedAt: this.options.now().toISOString(), updatedBy: user};
    const set = Object.entries(changes).flatMap(([name, {value}]) =>
      value === null ? [] : [[name, {value, ...updated}] as const],
    );
    const change = ({variables}: Target) => {
      const others = Object.entries(variables).filter(([name]) => !Object.hasOwn(changes, name));
      return {variables: Object.fromEntries([...others, ...set])};
    };
    return this.configure(site, change, user);
  }

  /** Changes what is known of a target. `publisher` publishes again what it runs; without one, that stays as it is. */
  async configure(
    site: SiteName,
    change: (target: Target) => Partial<TargetRecord>,
    publisher?: string,
  ): Promise<void> {
    const {deployments} = this.options;
    const target = this.find(site);
    deployments.verifyReady(site);
    await this.#write(target, change(target));
    const bundle = deployments.currentBundle(site);
    // What is being deployed starts with it.
    if (publisher === undefined || bundle === undefined || deployments.isDeploying(site)) return;
    await deployments.deploy(site, {bundle, createdBy: publisher});
  }

  async makePrimary(site: SiteName): Promise<void> {
    await this.configure(site, () => ({primary: true}));
    for (const other of this.list(site.projectSlug)) {
      if (other.primary && other.targetSlug !== site.targetSlug) await this.#write(other, {primary: false});
    }
  }

  /** Records that the cache of a target is cleared. @throws HttpFailure 404 if it does not exist. */
  async invalidate(site: SiteName, pattern: string, user: string): Promise<void> {
    const target = this.find(site);
    const invalidation = {pattern, createdAt: this.options.now().toISOString(), createdBy: user};
    await this.#write(target, {invalidations: [invalidation, ...target.invalidations].slice(0, 100)});
  }

  #write({status: _, ...target}: Target, changes: Partial<TargetRecord>): Promise<void> {
    return this.options.store.writeTarget({...target, ...changes});
  }
}

/** What is known of a target that only deployments have made. */
const blank = {
  readyAt: '',
  outcome: 'ready',
  variables: {},
  invalidations: [],
  settings: {},
  redirects: [],
  access: [],
  primary: false,
} as const satisfies Partial<TargetRecord>;

/** The settings of a target, as the configuration has them: all of them. */
export function settingsOf({settings, name}: TargetRecord): Readonly<Record<string, unknown>> {
  const standard = Object.entries(targetSettings).map(([key, row]) => [key, row.default] as const);
  return {...Object.fromEntries(standard), region: 'us-east-1', ...settings, name};
}

/** What a copy gets of settings: hosted services leave out the host name, the proxies and the production flag. */
function withoutUncopied({
  proxies: _,
  production: __,
  externalHost: ___,
  ...settings
}: Readonly<Record<string, unknown>>) {
  return settings;
}
