import {createHash} from 'node:crypto';
import {readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import * as v from 'valibot';
import {expect, onTestFinished, test} from 'vitest';
import {createProject} from '../../operations/test-host.js';
import {commit, git, gitEnvironment} from './repository.js';
import {buildBundle} from '../../../src/pipelines/build.js';

const uri = v.pipe(v.string(), v.url());
const digests = v.record(v.string(), v.pipe(v.string(), v.regex(/^[0-9a-f]+$/)));

// https://github.com/in-toto/attestation/blob/main/spec/v1/resource_descriptor.md
const resourceDescriptor = v.strictObject({
  uri: v.optional(uri),
  digest: v.optional(digests),
  name: v.optional(v.string()),
  downloadLocation: v.optional(uri),
  mediaType: v.optional(v.string()),
  content: v.optional(v.string()),
  annotations: v.optional(v.record(v.string(), v.unknown())),
});

// https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md and https://slsa.dev/spec/v1.0/provenance
const publishedFields = v.strictObject({
  _type: v.literal('https://in-toto.io/Statement/v1'),
  subject: v.array(v.strictObject({...resourceDescriptor.entries, name: v.string(), digest: digests})),
  predicateType: v.literal('https://slsa.dev/provenance/v1'),
  predicate: v.strictObject({
    buildDefinition: v.strictObject({
      buildType: uri,
      externalParameters: v.record(v.string(), v.unknown()),
      internalParameters: v.optional(v.record(v.string(), v.unknown())),
      resolvedDependencies: v.optional(v.array(resourceDescriptor)),
    }),
    runDetails: v.strictObject({
      builder: v.strictObject({
        id: uri,
        builderDependencies: v.optional(v.array(resourceDescriptor)),
        version: v.optional(v.record(v.string(), v.string())),
      }),
      metadata: v.optional(
        v.strictObject({
          invocationId: v.optional(v.string()),
          startedOn: v.optional(v.pipe(v.string(), v.isoTimestamp())),
          finishedOn: v.optional(v.pipe(v.string(), v.isoTimestamp())),
        }),
      ),
      byproducts: v.optional(v.array(resourceDescriptor)),
    }),
  }),
});

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

async function startProject(env: Readonly<Record<string, string>> = {}) {
  const project = await createProject(undefined, {...gitEnvironment, ...env});
  onTestFinished(() => project[Symbol.asyncDispose]());
  const build = (options: object = {}) =>
    buildBundle({output: 'site.tar.gz', provenance: true, ...options}, project.host);
  const read = async () => {
    const text = await readFile(join(project.directory, 'site.tar.gz.intoto.json'), 'utf8');
    return v.parse(publishedFields, JSON.parse(text));
  };
  return {...project, build, read};
}

test('the statement has the published fields, the digest of the archive and the commit', async () => {
  const env = {CIRCLECI: 'true', CIRCLE_BUILD_URL: 'https://ci.example/7'};
  const {directory, build, read} = await startProject(env);
  git(directory, 'init', '-q', '-b', 'main');
  const hash = commit(directory, 'first');
  git(directory, 'remote', 'add', 'origin', 'https://ann:canary@git.example/shop/site.git');
  const {bundle, statement} = await build();
  expect(statement).toBe(`${bundle.path}.intoto.json`);
  const found = await read();
  expect(JSON.stringify(found)).not.toContain('canary');
  expect(found.subject).toEqual([{name: 'site.tar.gz', digest: {sha256: sha256(await readFile(bundle.path))}}]);
  const {buildDefinition, runDetails} = found.predicate;
  expect(buildDefinition.resolvedDependencies).toEqual([
    {
      uri: 'git+https://git.example/shop/site@refs/heads/main',
      digest: {gitCommit: hash},
      annotations: {dirty: false, author: 'Ann'},
    },
  ]);
  expect(runDetails).toMatchObject({
    builder: {id: 'https://ci.example', version: {mycli: '0.0.0-test'}},
    metadata: {invocationId: 'https://ci.example/7'},
  });
});

test('outside git it still tells what was built, and it replaces only another statement', async () => {
  const {directory, build, read} = await startProject({PATH: '/nonexistent'});
  await build();
  const first = await read();
  expect(first.predicate.buildDefinition.resolvedDependencies).toEqual([]);
  await writeFile(join(directory, 'build/ssr.js'), 'changed');
  await build();
  expect((await read()).subject).not.toEqual(first.subject);
  await writeFile(join(directory, 'site.tar.gz.intoto.json'), '{"mine": true}');
  await expect(build()).rejects.toMatchObject({code: 'ERR_OUTPUT'});
  await build({force: true});
  await read();
});
