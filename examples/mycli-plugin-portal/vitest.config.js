/**
 * It stands here so that mycli's own, further up, is not taken. A case of the suite may take half a minute to say why
 * it fails.
 */
export default {test: {include: ['test/**/*.test.ts'], testTimeout: 300_000}};
