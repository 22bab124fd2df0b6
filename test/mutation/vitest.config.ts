import {defineConfig, type ViteUserConfig} from 'vitest/config';
import {BaseSequencer, type TestSpecification} from 'vitest/node';
import all from '../../vitest.config.js';

const {test: {projects: _, ...test} = {}, ...config}: ViteUserConfig = all;

/** Each takes seconds: two measure processes of their own, where no code is changed, two try much random input. */
const slow = [
  'memory does not grow with the bundle',
  'the bytes do not depend on the number of threads',
  'the system gzip restores any content',
  'GNU tar restores any tree',
];

/** A mutant needs one test that fails: the fast ones are asked first. */
class FastFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toReversed();
  }
}

/**
 * The tests that are about the mutated code and call it themselves, and are fast: each mutant waits for those that
 * reach it. Those that reach it through operations or the conformance suite would make the run three times as long.
 */
export default defineConfig({
  ...config,
  test: {
    ...test,
    include: ['test/{backends,bundle,http/rate-limit}/**/*.test.ts', 'test/frameworks/builds.test.ts'],
    exclude: ['test/backends/conformance.test.ts'],
    setupFiles: ['test/mutation/load-constants.ts'],
    testNamePattern: new RegExp(`^(?!.*(?:${slow.join('|')}))`),
    // Nothing is kept between modules: none needs a process of its own.
    isolate: false,
    sequence: {sequencer: FastFirst},
    // A mutant that hangs is found by it.
    testTimeout: 15_000,
  },
});
