import {existsSync} from 'node:fs';
import {defineConfig, globalIgnores} from 'eslint/config';
import tseslint from 'typescript-eslint';

/** Files that a framework loads by their default export. */
const defaultExports = [
  'src/commands/**',
  'bench/oclif-hello/**',
  '**/*.config.{js,ts}',
  '.dependency-cruiser.js',
  'examples/**',
  'templates/**',
];

/** The only places that may look at the process they run in; all others are given what they need. */
const processOwners = ['src/cli/**', 'src/library.ts', 'src/local-runtime/sites/app-program.ts'];

/** Its types are known after its own `npm ci` only; `npm run test:s3` installs and checks it. */
const s3Plugin = 'examples/mycli-plugin-s3';
const notInstalled = existsSync(new URL(`${s3Plugin}/node_modules`, import.meta.url)) ? [] : [s3Plugin];

export default defineConfig(
  globalIgnores([...notInstalled, 'dist', 'coverage', '**/build', '**/dist', 'test/fixtures']),
  {linterOptions: {reportUnusedDisableDirectives: 'error'}},
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: {parserOptions: {project: 'tsconfig.lint.json', tsconfigRootDir: import.meta.dirname}},
    rules: {
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-import-type-side-effects': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', {considerDefaultExhaustiveForUnions: true}],
      '@typescript-eslint/restrict-template-expressions': ['error', {allowNumber: true}],
      '@typescript-eslint/no-confusing-void-expression': ['error', {ignoreArrowShorthand: true}],
      '@typescript-eslint/no-unused-vars': ['error', {ignoreRestSiblings: true}],
      '@typescript-eslint/no-unnecessary-condition': ['error', {allowConstantLoopConditions: 'only-allowed-literals'}],
      // `signal.reason` is whatever the caller aborted with, and is passed on as it is.
      '@typescript-eslint/only-throw-error': ['error', {allowThrowingAny: true, allowThrowingUnknown: true}],
      '@typescript-eslint/prefer-promise-reject-errors': [
        'error',
        {allowThrowingAny: true, allowThrowingUnknown: true},
      ],
      // Two of the slowest: there are no enums, and classes have private members, which TypeScript itself tells apart.
      '@typescript-eslint/no-unsafe-enum-assignment': 'off',
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      // Objects are plain: their functions do not look at `this`, and may be taken out of them.
      '@typescript-eslint/unbound-method': 'off',
      // Members of a contract are async, whether or not one implementation has something to wait for.
      '@typescript-eslint/require-await': 'off',
    },
  },
  {
    // Tests read answers whose types are what is being tested.
    files: ['test/**/*.ts', 'examples/*/test/**/*.ts'],
    rules: {
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
    },
  },
  {
    // node:test waits for its tests by itself.
    files: ['templates/**/*.test.ts'],
    rules: {
      '@typescript-eslint/no-floating-promises': [
        'error',
        {allowForKnownSafeCalls: [{from: 'package', name: 'test', package: 'node:test'}]},
      ],
    },
  },
  {
    rules: {
      eqeqeq: 'error',
      'no-var': 'error',
      'prefer-const': 'error',
      'object-shorthand': 'error',
      'no-warning-comments': ['error', {terms: ['todo', 'fixme', 'xxx'], location: 'anywhere'}],
      // Prettier wraps code, but not comments.
      'max-len': ['error', {code: 10_000, comments: 120, ignoreUrls: true}],
    },
  },
  // Its comments are the summaries of settings, which generate it.
  {files: ['src/config.ts'], rules: {'max-len': 'off'}},
  // It tells an old Node that it is too old, in words that an old Node can read.
  {
    files: ['bin/run.js'],
    languageOptions: {ecmaVersion: 2020, sourceType: 'script'},
    rules: {'no-var': 'off', 'no-restricted-syntax': ['error', 'ChainExpression', 'LogicalExpression[operator="??"]']},
  },
  {
    ignores: defaultExports,
    rules: {
      'no-restricted-exports': [
        'error',
        {restrictDefaultExports: {direct: true, named: true, defaultFrom: true, namedFrom: true, namespaceFrom: true}},
      ],
    },
  },
  {
    files: ['src/**'],
    rules: {'max-lines': ['error', 500], 'no-console': 'error'},
  },
  {
    files: ['src/**'],
    ignores: processOwners,
    rules: {
      'no-restricted-globals': ['error', {name: 'process', message: 'Take it as an argument.'}],
      'no-restricted-imports': [
        'error',
        {
          paths: [
            {name: 'process', message: 'Take it as an argument.'},
            {name: 'node:process', message: 'Take it as an argument.'},
            {name: 'node:os', importNames: ['tmpdir', 'homedir'], message: 'Take the folder as an argument.'},
          ],
        },
      ],
    },
  },
);
