/** The longest time that a timer takes, in whole seconds: 24 days. A longer one would end at once. */
export const longestTimeoutSeconds = 2_147_483;
