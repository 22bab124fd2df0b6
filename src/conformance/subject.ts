import assert from 'node:assert/strict';
import {setTimeout as delay} from 'node:timers/promises';
import type {HostBackend} from '../backends/built-in.js';
import type {
  AnyBackend,
  Bundle,
  BundleId,
  DeploymentRef,
  DeployResult,
  ListRange,
  ListResult,
} from '../backends/contract.js';
import {containsSecret, createRedactor} from '../http/redact.js';
import type {BundleWish} from './bundles.js';
import {expectAnswer, expectBytes, notTried, shown} from './expectations.js';
import {Host, type AnswerTo, type CallOptions, type RequestOf, type SubjectParts} from './host.js';

const pollIntervalMs = 20;
/** How many items of a list are asked for at a time: a service may give fewer. */
const pageLimit = 100;

/** A member that returns a list. */
export type Lister = 'listBundles' | 'listDeployments' | 'listTargets';
export type ItemOf<Name extends Lister> = AnswerTo<Name>['items'][number];

interface Pushed extends Pick<DeployResult, 'deployment'>, Partial<Pick<DeployResult, 'status'>> {
  readonly bundleId: BundleId;
}

/** A backend and its service, and what cases do with them. */
export class Subject extends Host {
  /** The same service with a new backend, as another process would see it. */
  again(changes: Partial<Pick<SubjectParts, 'service' | 'projectSlug' | 'states'>> = {}): Subject {
    return new Subject({...this.parts, backend: this.parts.createBackend(), ...changes});
  }

  /** The same for another project. */
  elsewhere(): Subject {
    if (this.service.projectSlug !== undefined) {
      notTried('The service of the fixtures has a projectSlug, so there is no other project.');
    }
    return this.again({projectSlug: `${this.parts.projectSlug}-2`, states: new Map()});
  }

  /** Builds a bundle with unique content for the project. */
  makeBundle(wish: BundleWish = {}): Promise<Bundle> {
    return this.parts.makeBundle(wish, this.parts);
  }

  /** Uploads a bundle, by default a new one, and returns its ID. */
  async upload(bundle?: Bundle, options?: CallOptions): Promise<BundleId> {
    return (await this.uploadResult(bundle ?? (await this.makeBundle()), options)).bundleId;
  }

  /** Uploads a bundle, by default a new one, and waits until lists show it. */
  async uploaded(bundle?: Bundle): Promise<BundleId> {
    const bundleId = await this.upload(bundle);
    await this.nextInstant();
    return bundleId;
  }

  /** Deploys a bundle to the target, and waits until it runs there. */
  async deploy(bundleId: BundleId): Promise<DeploymentRef> {
    const result = await this.call('deploy', {bundleId, targetSlug: this.targetSlug});
    await this.finished(result);
    return result.deployment;
  }

  /**
   * Pushes a bundle, by default to the target, like the host: with an upload that deploys, or an upload and then a
   * deployment.
   */
  async push({format, targetSlug = this.targetSlug}: Pick<BundleWish, 'format'> & CallOptions = {}): Promise<Pushed> {
    const {bundleId, deployment} = await this.uploadResult(await this.makeBundle({format}), {targetSlug});
    if (deployment) return {bundleId, deployment};
    return {bundleId, ...(await this.call('deploy', {bundleId, targetSlug}))};
  }

  /** Pushes a bundle, and waits until it runs on the target. */
  async pushed(options?: CallOptions): Promise<Pushed> {
    const {bundleId, ...result} = await this.push(options);
    await this.finished(result);
    return {bundleId, deployment: fromJson(result.deployment)};
  }

  /** Waits until a deployment has finished, if the backend can tell, and until lists show it. */
  async finished({deployment, status: reported}: Omit<Pushed, 'bundleId'>): Promise<void> {
    if (this.backend.getDeployment) {
      const what = `the deployment ${shown(deployment)}`;
      const advice = 'Until it is live, report "in_progress".';
      await this.becomes(what, ['finished'], async () => {
        const {status, percentage = 0, description} = await this.call('getDeployment', deployment);
        assert.notEqual(status, 'failed', `Expected ${what} to finish. The backend reports "failed": ${description}`);
        if (reported === 'finished') expectAnswer(`${what}, which was reported as finished,`, status, reported, advice);
        assert.ok(percentage >= 0 && percentage <= 100, `Expected 0 to 100 %. The backend reports ${percentage}.`);
        return status;
      });
    }
    await this.nextInstant();
  }

  /** Polls, at most as long as a deployment may take, until `read` resolves to one of `wanted`, and returns that. */
  async becomes<Value>(what: string, wanted: readonly Value[], read: () => Promise<Value>): Promise<Value> {
    const tooLate = Date.now() + (this.parts.fixtures.deploymentTimeoutMs ?? 30_000);
    for (;;) {
      const found = await read();
      if (wanted.includes(found)) return found;
      const expected = `Expected ${what} to become ${wanted.map(String).join(' or ')}.`;
      assert.ok(Date.now() < tooLate, `${expected} When the time was up, the backend reported ${shown(found)}.`);
      await delay(pollIntervalMs);
    }
  }

  /** All items of a list, in pages of at most `limit`. */
  async list<Name extends Lister>(name: Name, request: Omit<RequestOf<Name>, keyof ListRange>, limit = pageLimit) {
    const pages: ListResult<ItemOf<Name>>[] = [];
    const cursors = new Set<string>();
    for (let cursor: string | undefined; ; cursors.add(cursor)) {
      const range = {...request, limit, cursor} as unknown as RequestOf<Name>;
      const page = (await this.call(name, range)) as ListResult<ItemOf<Name>>;
      pages.push(page);
      ({cursor} = page);
      if (cursor === undefined) break;
      assert.ok(!cursors.has(cursor), `Expected a new cursor. ${name}() has returned ${shown(cursor)} before.`);
    }
    const items = pages.flatMap((page) => page.items);
    const totals = pages.map(({total = items.length}) => total);
    const total = items.length;
    const expected = totals.map(() => total);
    expectAnswer(`the totals of the pages of a list, which have ${total} items together,`, totals, expected);
    return items;
  }

  async history(targetSlug = this.targetSlug): Promise<readonly ItemOf<'listDeployments'>[]> {
    return this.list('listDeployments', {targetSlug});
  }

  /** Waits until the service can order what happened before and what happens after. */
  async nextInstant(): Promise<void> {
    await delay(this.parts.fixtures.timeResolutionMs ?? 10);
  }

  /** Asserts that the service has every byte of `bundle`: its archive, its files, or both. */
  async assertArrived(bundle: Bundle, bundleId: BundleId): Promise<void> {
    const {readUploaded, readUploadedFile} = this.service;
    const {projectSlug} = this.parts;
    assert.ok(
      readUploaded ?? readUploadedFile,
      'The service of the fixtures has neither readUploaded() nor readUploadedFile().',
    );
    const what = `the bundle ${shown(bundleId)} in the service`;
    if (readUploaded) await expectBytes(what, bundle, () => readUploaded(bundleId, projectSlug));
    for await (const entry of readUploadedFile ? bundle.entries() : []) {
      if (entry.linkTarget !== undefined || !readUploadedFile) continue;
      await expectBytes(`${entry.path} of ${what}`, entry, () => readUploadedFile(bundleId, entry.path, projectSlug));
    }
  }

  /** Asserts how many uploads the service keeps, complete or not, if it can be asked. */
  async assertKept(most: number, after: string): Promise<void> {
    const kept = (await this.service.countUploads?.()) ?? 0;
    assert.ok(kept <= most, `Expected the service to keep ${most} uploads after ${after}. It keeps ${kept}.`);
  }

  /** The secrets that the backend has learned. */
  async issuedSecrets(): Promise<readonly string[]> {
    return (await this.service.issuedSecrets?.()) ?? [];
  }

  /** Asserts that nothing that the backend logged, threw or returned contains a secret. */
  async assertNoLeak(): Promise<void> {
    const secrets = [...(this.service.secrets ?? []), ...(await this.issuedSecrets())];
    const leak = this.texts.find((text) => containsSecret(text, secrets));
    const masked = createRedactor(secrets)(leak ?? '');
    assert.equal(leak, undefined, `An error, a log or a result contains a secret: ${masked}`);
  }
}

/** A deployment as another process would have it, which only has the JSON. */
export function fromJson(deployment: DeploymentRef): DeploymentRef {
  return JSON.parse(JSON.stringify(deployment)) as DeploymentRef;
}

/** Opens another service, for `backend` or a new one. It is closed at the end of the case. */
export type Open = (backend?: AnyBackend) => Promise<Subject>;

/** What a case proves, and how. */
export interface Case {
  /** What a backend that passes does, as a sentence. */
  readonly proves: string;
  /** The members without which there is no such case, besides that of its table. @default none */
  readonly needs?: readonly (keyof HostBackend)[] | undefined;
  /** Rejects when the backend breaks the contract. */
  run(subject: Subject, open: Open): Promise<void>;
}

/** Cases by name. */
export type Cases = Readonly<Record<string, Case>>;

/** Cases by the member that they are about, without which there are none. */
export type CaseTable = Readonly<Partial<Record<keyof HostBackend, Cases>>>;
