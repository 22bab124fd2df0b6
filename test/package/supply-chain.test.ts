import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {readdir, readFile} from 'node:fs/promises';
import path from 'node:path';
import {text} from 'node:stream/consumers';
import {describe, expect, test} from 'vitest';
import {root} from './install.js';
import {problemsOf, type LockedPackage, type LockFile} from './lock-file.js';

const sha512 = `sha512-${'A'.repeat(86)}==`;

/** A lock file with one package, good but for what `entry` says. */
function lockWith(entry: LockedPackage): LockFile {
  const good = {version: '1.0.0', integrity: sha512};
  return {
    lockfileVersion: 3,
    packages: {'': {dependencies: {good: '^1.0.0'}}, 'node_modules/good': {...good, ...entry}},
  };
}

describe('a lock file', () => {
  test.each(['package-lock.json', 'examples/mycli-plugin-s3/package-lock.json'])(
    '%s names each package with its hash, and nothing from outside the registry',
    async (file) => {
      const lock = JSON.parse(await readFile(path.join(root, file), 'utf8')) as LockFile;
      expect(Object.keys(lock.packages).length).toBeGreaterThan(10);
      expect(problemsOf(lock)).toEqual([]);
    },
  );

  test.each<[string, LockedPackage]>([
    ['another registry', {resolved: 'https://registry.example/good-1.0.0.tgz'}],
    ['plain HTTP', {resolved: 'http://registry.npmjs.org/good/-/good-1.0.0.tgz'}],
    ['a repository', {resolved: 'git+ssh://git@github.com/good/good.git#0123456'}],
    ['a weak hash', {integrity: `sha1-${'A'.repeat(27)}=`}],
    ['no hash', {integrity: ''}],
    ['a link', {link: true}],
    ['a dependency from a repository', {dependencies: {other: 'github:other/other'}}],
    ['a dependency from an address', {optionalDependencies: {other: 'https://other.example/other.tgz'}}],
    ['a dependency from a folder', {devDependencies: {other: 'file:../other'}}],
  ])('with %s is refused', (_, entry) => {
    expect(problemsOf(lockWith({}))).toEqual([]);
    expect(problemsOf(lockWith(entry))).toHaveLength(1);
  });
});

describe('what the release workflow checks of npm audit and npm sbom', () => {
  const advisory = {severity: 'high', title: 'Prototype pollution', url: 'https://advisories.example/1'};
  const found = (path: string, ...via: readonly unknown[]) => ({[path]: {nodes: [`node_modules/${path}`], via}});

  async function shipped(task: 'audit' | 'sbom', report: unknown): Promise<{code: number; stdout: string}> {
    const child = spawn(process.execPath, ['scripts/shipped.js', task], {cwd: root, stdio: ['pipe', 'pipe', 'ignore']});
    child.stdin.end(JSON.stringify(report));
    const [stdout, [code]] = await Promise.all([text(child.stdout), once(child, 'exit') as Promise<[number]>]);
    return {code, stdout};
  }

  test('is what npm installs and what dist contains, and none of our tools', async () => {
    const vulnerabilities = {
      ...found('got', advisory),
      ...found('valibot', advisory),
      ...found('vitest', advisory),
      ...found('yarn', advisory),
      ...found('@oclif/plugin-plugins', 'yarn'),
    };
    const {code, stdout} = await shipped('audit', {vulnerabilities});
    expect(code).toBe(1);
    expect(stdout.split('\n').map((line) => line.replace(/@\d.*/, ''))).toEqual(['got', 'valibot', '']);
  });

  test('passes when only our tools have findings', async () => {
    expect(await shipped('audit', {vulnerabilities: found('vitest', advisory)})).toMatchObject({code: 0});
  });

  test('fails without a report', async () => {
    expect(await shipped('audit', {message: '405 Method Not Allowed'})).toMatchObject({code: 1, stdout: ''});
  });

  test('lists them in the SBOM', async () => {
    const {packages} = JSON.parse(await readFile(path.join(root, 'package-lock.json'), 'utf8')) as LockFile;
    const ref = (name: string) => `${name}@${packages[`node_modules/${name}`]?.version ?? ''}`;
    const refs = ['got', 'valibot', 'vitest'].map(ref);
    const {stdout} = await shipped('sbom', {
      bomFormat: 'CycloneDX',
      metadata: {component: {'bom-ref': 'mycli@0.1.0'}},
      components: refs.map((bomRef) => ({'bom-ref': bomRef})),
      dependencies: [
        {ref: 'mycli@0.1.0', dependsOn: refs},
        {ref: ref('vitest'), dependsOn: [ref('valibot')]},
      ],
    });
    expect(JSON.parse(stdout)).toEqual({
      bomFormat: 'CycloneDX',
      metadata: {component: {'bom-ref': 'mycli@0.1.0'}},
      components: [{'bom-ref': ref('got')}, {'bom-ref': ref('valibot')}],
      dependencies: [{ref: 'mycli@0.1.0', dependsOn: [ref('got'), ref('valibot')]}],
    });
  });
});

test('every action that a workflow uses is pinned to a commit', async () => {
  const folder = path.join(root, '.github/workflows');
  const files = [path.join(root, 'action.yml'), ...(await readdir(folder)).map((name) => path.join(folder, name))];
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  const used = texts.flatMap((text) =>
    [...text.matchAll(/^\s*(?:- )?uses: *(.+)$/gm)].map(([, action = '']) => action),
  );
  expect(used).not.toEqual([]);
  for (const action of used) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});
