import {describe, expect, test} from 'vitest';
import {ApiKeyStrategy, BearerTokenStrategy, OAuthClientCredentialsStrategy} from '../../src/http/index.js';
import {faultLines, type FaultLine} from './faults.js';
import {done} from './outcomes.js';
import type {CellCall, MatrixRequest} from './requests.js';
import {checkCell, runCell, type CellResult} from './run-cell.js';
import {deployBundle} from '../../src/pipelines/deploy.js';
import {pushRuntimeBundle} from '../../src/pipelines/push.js';

/** A definite rejection of an upload before it was executed; nothing else makes `auto` go to legacy. */
const uploadFallsBackOn = [400, 401, 403, 404, 405, 406, 415];

function auto({origin, options}: CellCall) {
  return {
    ...options,
    preference: 'auto',
    projectSlug: 'shop',
    origin,
    legacyAuth: new ApiKeyStrategy({apiKey: 'canary-api-key'}),
    apiConnection: {origin, organizationId: 'org', auth: new BearerTokenStrategy('canary-api-token')},
  } as const;
}

const requests: readonly (MatrixRequest & {readonly fallsBackOn: readonly number[]})[] = [
  {
    name: 'auto upload',
    request: 'upload',
    kind: 'write',
    run: (call) => pushRuntimeBundle({...auto(call), message: 'one'}, call.host),
    fallsBackOn: uploadFallsBackOn,
  },
  {
    name: 'auto deploy',
    request: 'deploy',
    kind: 'write',
    run: (call) => deployBundle({...auto(call), bundleId: 7, targetSlug: 'staging'}, call.host),
    // The id of a bundle is of one backend.
    fallsBackOn: [],
  },
  {
    name: 'auto token',
    request: 'token',
    kind: 'token',
    run: (call) => {
      const {origin, tokenOrigin} = call;
      const credentials = {clientId: 'client', clientSecret: 'canary-client-secret', scopes: ['bundles']};
      const auth = new OAuthClientCredentialsStrategy({tokenUrl: `${tokenOrigin}/token`, ...credentials});
      return pushRuntimeBundle(
        {...auto(call), message: 'one', apiConnection: {origin, organizationId: 'org', auth}},
        call.host,
      );
    },
    fallsBackOn: [],
  },
];

/** What the token endpoint says of scopes that the client does not have. */
const invalidScope: FaultLine = {
  name: '400 invalid_scope',
  fault: {kind: 'answer', status: 400, body: '{"error":"invalid_scope"}'},
  ends: {token: done},
};

const noArchives = {archive: Buffer.alloc(0), large: {v1: '', v2: ''}};

for (const request of requests) {
  describe.concurrent(request.name, () => {
    // An address that fails is that of both backends here.
    const lines = faultLines.filter(({ends, body}) => (ends[request.kind]?.requests ?? 0) > 0 && body !== 'large');
    for (const line of request.kind === 'token' ? [...lines, invalidScope] : lines) {
      const outcome = line.ends[request.kind] ?? done;
      const status = Number(/^\d{3}\b/.exec(line.name)?.[0]);
      const falls = line === invalidScope || request.fallsBackOn.includes(status);
      const run = (timeoutSeconds: number) =>
        runCell(request, line, noArchives, {times: outcome.requests, timeoutSeconds});
      const check = (result: CellResult) => {
        // Both services are at one address: what is sent to legacy is told from the rest by its path.
        const toLegacy = result.requests.filter(({isLegacy}) => isLegacy);
        const facts = {exitCode: exitCodeOf(result.error), fellBack: toLegacy.length > 0, temporary: result.temporary};
        expect(facts).toEqual({exitCode: falls ? 0 : outcome.exitCode, fellBack: falls, temporary: []});
        expect(result.said).not.toContain('canary');
      };
      test(`${line.name}: ${falls ? 'legacy serves the call' : 'nothing falls back'}`, () =>
        checkCell(run, line, check));
    }
  });
}

function exitCodeOf(error: unknown): unknown {
  if (error === undefined) return 0;
  return error instanceof Error && 'exitCode' in error ? error.exitCode : error;
}
