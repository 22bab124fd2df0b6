/** It stands here so that mycli's own, further up, is not taken. */
export default {test: {include: ['test/**/*.test.ts']}};
