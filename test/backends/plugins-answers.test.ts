import {describe, expect, test} from 'vitest';
import {checkedBackend} from '../../src/backends/checked-backend.js';
import {optionsOf, secretOptions} from '../../src/backends/configuration.js';
import type {Backend} from '../../src/backends/contract.js';

/** A backend whose members answer what they are told to, whatever the types say. */
function answering(answer: unknown, more: object = {}): Backend {
  const member = () => Promise.resolve(answer);
  const backend: unknown = {
    apiVersion: 1,
    name: 'acme',
    summary: 'For tests',
    formats: ['v2'],
    capabilities: ['deploy', 'wait', 'list', 'history'],
    check: member,
    upload: member,
    deploy: member,
    getDeployment: member,
    listBundles: member,
    listDeployments: member,
    ...more,
  };
  return checkedBackend(backend as Backend, 'mycli-plugin-acme');
}

function call(backend: Backend, member: string): Promise<unknown> {
  const called: unknown = Reflect.get(backend, member);
  if (typeof called !== 'function') throw new Error(`no ${member}`);
  return called.call(backend, {}, {}) as Promise<unknown>;
}

const item = {bundleId: 'b1', status: 'ready'};
const circular: Record<string, unknown> = {};
circular['itself'] = circular;

describe('the answers of a plugin', () => {
  test.each([
    ['check', {configured: true}],
    ['check', {configured: false, missing: ['token']}],
    ['upload', {bundleId: 'b1', warnings: ['w'], matches: {ssrOnly: []}, deployment: {id: 1}, raw: {}}],
    ['upload', {bundleId: 0, extra: 1}],
    ['deploy', {deployment: {}, status: 'queued', raw: null}],
    ['getDeployment', {status: 'in_progress', percentage: 40, raw: undefined}],
    ['listBundles', {items: [item], total: 1, raw: []}],
    ['listDeployments', {items: [{...item, deployment: {}, status: 'failed'}], raw: []}],
  ])('%s may answer %j, which passes untouched', async (member, answer) => {
    expect(await call(answering(answer), member)).toBe(answer);
  });

  test.each([
    ['check', undefined, 'configured'],
    ['check', {configured: false}, 'configured'],
    ['check', {configured: true, missing: ['token']}, 'configured'],
    ['upload', undefined, 'uploading'],
    ['upload', {id: 1}, 'bundleId'],
    ['upload', {bundleId: ''}, 'bundleId'],
    ['upload', {bundleId: NaN}, 'bundleId'],
    ['upload', {bundleId: 1, warnings: 'careful'}, 'warnings'],
    ['upload', {bundleId: 1, raw: circular}, 'raw: must be plain JSON'],
    ['deploy', {status: 'queued'}, 'deployment'],
    ['deploy', {deployment: {size: 1n}, status: 'queued'}, 'deployment: must be plain JSON'],
    ['deploy', {deployment: {}, status: 'done'}, 'status'],
    ['getDeployment', {status: 'Finished'}, 'status'],
    ['listBundles', [item], 'items'],
    ['listBundles', {items: [item, {bundleId: 1}]}, 'items.1.status'],
    ['listDeployments', {items: [item]}, 'items.0.deployment'],
  ])('%s may not answer %o: the error names plugin, backend and member', async (member, answer, problem) => {
    await expect(call(answering(answer), member)).rejects.toMatchObject({
      code: 'ERR_BACKEND_FAILED',
      message: expect.stringMatching(/^the acme backend of mycli-plugin-acme answered wrongly/) as string,
      details: {backend: 'acme', plugin: 'mycli-plugin-acme'},
    });
    await expect(call(answering(answer), member)).rejects.toThrow(problem);
  });

  test('members without a capability stay absent', () => {
    const backend = answering({}, {deploy: undefined, capabilities: []});
    expect(backend).not.toHaveProperty('deploy');
    expect(backend).not.toHaveProperty('download');
  });

  test('a plugin cannot change what it has registered', () => {
    const capabilities = ['deploy'];
    const backend = answering({}, {capabilities});
    capabilities.push('delete');
    expect(backend.capabilities).toEqual(['deploy']);
  });

  test('members keep the object that they belong to', async () => {
    class Stateful {
      readonly state = 'b7';
      upload() {
        return Promise.resolve({bundleId: this.state, raw: undefined});
      }
    }
    const stateful = Object.assign(new Stateful(), {formats: [], capabilities: []}) as unknown as Backend;
    expect(await call(checkedBackend(stateful, 'p'), 'upload')).toMatchObject({bundleId: 'b7'});
  });

  test('a check that throws is an error that names the backend', async () => {
    const backend = answering({}, {check: () => Promise.reject(new Error('no idea'))});
    await expect(call(backend, 'check')).rejects.toMatchObject({
      code: 'ERR_BACKEND_FAILED',
      message: 'the acme backend failed while checking its configuration: no idea',
    });
  });
});

describe('the options of a plugin', () => {
  const schema = (validate: (value: unknown) => unknown) => ({
    options: {'~standard': {version: 1, vendor: 'x', validate}},
  });

  test('are what its schema makes of them', async () => {
    const backend = answering(
      {},
      schema((value) => ({value: {made: value}})),
    );
    expect(await optionsOf(backend, {backendOptions: {region: 'eu'}})).toEqual({made: {region: 'eu'}});
  });

  test('that are wrong are named, and secrets that the schema quotes are masked', async () => {
    const issues = [
      {message: 'must be a number', path: ['retry', {key: 'limit'}]},
      {message: 'canary-77 is too short', path: ['token']},
      {message: 'too few'},
    ];
    const backend = answering({}, {...schema(() => ({issues})), secrets: ['token']});
    await expect(optionsOf(backend, {backendOptions: {token: 'canary-77'}})).rejects.toMatchObject({
      code: 'ERR_OPTION_INVALID',
      message:
        'the options of the acme backend are wrong: retry.limit: must be a number; token: *** is too short; too few',
    });
  });

  test('a schema that throws is an error that names the backend', async () => {
    const throwing = () => {
      throw new Error('no schema');
    };
    await expect(optionsOf(answering({}, schema(throwing)), {})).rejects.toMatchObject({
      code: 'ERR_BACKEND_FAILED',
      message: 'the acme backend failed while checking its options: no schema',
    });
  });

  test('that are secrets are found whatever they were parsed as', () => {
    const backendOptions = {token: ' spaced ', pin: 1234, pair: {left: 'l', right: ['r']}, region: 'eu'};
    const found = secretOptions({secrets: ['token', 'pin', 'pair', 'absent']}, {backendOptions});
    expect(new Set(found)).toEqual(new Set([' spaced ', 'spaced', '1234', 'l', 'r']));
  });
});
