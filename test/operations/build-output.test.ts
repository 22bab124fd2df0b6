import {writeFileSync} from 'node:fs';
import {readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {Writable} from 'node:stream';
import {describe, expect, test} from 'vitest';
import {createProject, smallBuild} from './test-host.js';
import {callFromLibrary} from '../../src/pipelines/library-call.js';
import {buildBundle, buildBundleInto, previewBuild} from '../../src/pipelines/build.js';

const foreign: readonly (readonly [output: string, file: string, content: string])[] = [
  ['package', 'package.json', '{"name": "shop", "version": "1.0.0"}'],
  ['bundle', 'bundle.json', '{"schemaVersion": 1, "name": "not a manifest"}'],
  ['mycli.config.ts', 'mycli.config.ts', 'export default {};'],
  ['notes', 'notes', 'x'],
];

describe('the output of a build', () => {
  test.each(foreign)('%s does not replace %s, which is something else', async (output, file, content) => {
    await using project = await createProject(smallBuild);
    await writeFile(join(project.directory, file), content);
    const error = {
      code: 'ERR_OUTPUT',
      message: expect.stringContaining(`${join(project.directory, file)} exists and is not `) as string,
      suggestions: [expect.stringMatching(/--output FILE.*--force/) as string],
    };
    await expect(buildBundle({output}, project.host)).rejects.toMatchObject(error);
    await expect(previewBuild({output}, project.host)).rejects.toMatchObject(error);
    const path = join(project.directory, file);
    expect(await readFile(path, 'utf8')).toBe(content);
    const {bundle} = await buildBundle({output, force: true}, project.host);
    expect((await readFile(bundle.path)).length).toBe(bundle.size);
  });

  test('is refused before any work', async () => {
    await using project = await createProject({notes: 'x'});
    // There is no build.
    await expect(buildBundle({output: 'notes'}, project.host)).rejects.toMatchObject({code: 'ERR_OUTPUT'});
  });

  test.each([
    ['v1', 'build/a'],
    ['v1', `build/${'a'.repeat(60)}/${'b'.repeat(60)}`],
    ['v2', 'build/a'],
  ] as const)('replaces an earlier one of %s with %s, and an empty file', async (format, file) => {
    await using project = await createProject({...smallBuild, [file]: '', out: '', 'out.json': ''});
    const options = {format, output: 'out', projectSlug: `p${'r'.repeat(40)}`};
    const first = await buildBundle({...options, ssrOnly: ['ssr.js']}, project.host);
    const other = await buildBundle({...options, format: 'v2', ssrOnly: ['ssr*']}, project.host);
    expect(other.bundle.sha256).not.toBe(first.bundle.sha256);
    await buildBundle(options, project.host);
  });

  test('into a stream tells of a file that appears meanwhile', async () => {
    await using project = await createProject(smallBuild);
    const destination = new Writable({
      write(_chunk, _encoding, done) {
        writeFileSync(join(project.directory, 'build/late.js'), '');
        done();
      },
    });
    await callFromLibrary({}, project.host, (data, run) => buildBundleInto(destination, data, run));
    expect(project.log.filter((line) => line.includes('late.js'))).toEqual([
      expect.stringMatching(/Files appeared in .* not in the bundle: late\.js\. /),
    ]);
  });
});
