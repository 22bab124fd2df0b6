/** Kinds of reasons why a mutant survives, and what each means. */
export const kinds = {
  equivalent: 'nothing changes that anybody could see',
  words: 'only words of a message change, not its error code, what it names or the way out',
  resources: 'only time or memory changes',
  unreachable: 'a case that the types exclude or that cannot be made in a test',
};

/**
 * Why the mutants that survive do, by source file: how many mutants a reason covers, of which kind it is, and the reason.
 * @type {Readonly<Record<string, readonly {count: number, kind: keyof typeof kinds, why: string}[]>>}
 */
export const survivors = {
  'src/backends/answer-schemas.ts': [
    {count: 1, kind: 'equivalent', why: 'Nothing, without the `return false`, is as false to the check.'},
  ],
  'src/backends/answers.ts': [
    {count: 1, kind: 'equivalent', why: 'A text in the list of records has none of the members that are read.'},
    {count: 1, kind: 'equivalent', why: '`isSafeInteger` refuses what is no number; asking before is for the types.'},
  ],
  'src/backends/api/backend.ts': [
    {count: 1, kind: 'equivalent', why: '`undefined`, as the pattern reads it, is an identifier too.'},
  ],
  'src/backends/configuration.ts': [
    {count: 1, kind: 'equivalent', why: 'A name that no option has, in the default list of secrets, finds no value.'},
  ],
  'src/backends/legacy/deployments.ts': [
    {
      count: 1,
      kind: 'equivalent',
      why: 'What is thrown beside errors of the catalogue has no status; asking is for the types.',
    },
    {count: 1, kind: 'equivalent', why: 'Any other text in the place of a missing time is no time either.'},
  ],
  'src/backends/legacy/download.ts': [
    {
      count: 1,
      kind: 'equivalent',
      why: 'What is thrown beside errors of the catalogue has no code that is retried; asking is for the types.',
    },
    {count: 2, kind: 'unreachable', why: 'A name server that is out of order for a while (`EAI_AGAIN`).'},
    {
      count: 3,
      kind: 'unreachable',
      why: 'An answer that fails in the moment between its beginning and the first look at it: no server can be so exact.',
    },
    {
      count: 2,
      kind: 'equivalent',
      why: 'What stands in for a missing range, or for its match, matches and holds nothing either.',
    },
  ],
  'src/backends/location.ts': [
    {count: 1, kind: 'equivalent', why: 'A name that no option has, in the default list of secrets, leaves out none.'},
    {count: 1, kind: 'equivalent', why: 'Two options of one name, whose order would be another, do not exist.'},
  ],
  'src/backends/plugins.ts': [
    {count: 1, kind: 'equivalent', why: 'Two plugins of one name, whose order would be another, do not exist.'},
  ],
  'src/backends/select.ts': [
    {count: 1, kind: 'equivalent', why: 'The set of statuses does not hold `undefined`; asking is for the types.'},
  ],
  'src/bundle/config/check-options.ts': [
    {count: 1, kind: 'equivalent', why: 'the nearest match mode of what is no text: there is none'},
    {
      count: 1,
      kind: 'equivalent',
      why: 'whether a level is a number at all, when it is asked next whether it is a whole one',
    },
  ],
  'src/bundle/config/config-json.ts': [
    {count: 1, kind: 'equivalent', why: 'the order of two keys that are the same: an object has none'},
    {count: 1, kind: 'equivalent', why: 'a text among the parents of a value, where only objects are looked for'},
  ],
  'src/bundle/config/content-schema.ts': [
    {
      count: 2,
      kind: 'equivalent',
      why: 'the name of a place that is only compared with none, and the one for a place that is always there',
    },
  ],
  'src/bundle/config/default-message.ts': [{count: 1, kind: 'equivalent', why: 'nothing returned, without saying so'}],
  'src/bundle/archive/entry-queue.ts': [
    {count: 3, kind: 'resources', why: 'without the size of a stream the library reads it whole before it writes it'},
  ],
  'src/bundle/archive/gzip.ts': [
    {count: 2, kind: 'resources', why: 'how many blocks are compressed at a time'},
    {count: 1, kind: 'resources', why: 'blocks that are used again'},
    {count: 1, kind: 'unreachable', why: 'a block that zlib cannot compress'},
  ],
  'src/bundle/files/ignore-rules.ts': [
    {count: 4, kind: 'resources', why: 'the library is not asked, and remembers nothing, when there are no rules'},
    {count: 1, kind: 'equivalent', why: 'a rule that hits nothing in place of none'},
  ],
  'src/bundle/files/entry-names.ts': [
    {count: 1, kind: 'equivalent', why: 'paths that are equal, of which it was said before that they are'},
  ],
  'src/bundle/prebuilt/open-bundle.ts': [
    {
      count: 1,
      kind: 'equivalent',
      why: 'the comparison of sizes before that of digests: bytes of another number have another digest',
    },
  ],
  'src/bundle/archive/pack.ts': [
    {count: 6, kind: 'resources', why: 'blocks that are used again'},
    {count: 1, kind: 'resources', why: 'files that are closed a moment later'},
  ],
  'src/bundle/files/patterns.ts': [
    {count: 1, kind: 'equivalent', why: 'exclusions among what is included: they exclude the same afterwards'},
    {count: 1, kind: 'equivalent', why: 'nothing instead of false for a pattern that cannot be compiled'},
  ],
  'src/bundle/plan.ts': [
    {count: 1, kind: 'equivalent', why: 'the working directory, as `.` or as nothing'},
    {count: 1, kind: 'equivalent', why: 'a rule that hits nothing in place of none'},
  ],
  'src/bundle/prebuilt/read-archive.ts': [
    {
      count: 5,
      kind: 'resources',
      why: 'how much is read at a time, how much of it is copied for its end, and whether contents that nobody wants are kept',
    },
    {count: 1, kind: 'equivalent', why: 'the target of what is no link, which nobody looks at'},
    {
      count: 7,
      kind: 'resources',
      why: 'exactly 200,000 entries, and more than 1.5 GiB in an archive: too slow here, and tested with the built binary, in test/faults/input',
    },
  ],
  'src/bundle/archive/read-exactly.ts': [
    {
      count: 3,
      kind: 'equivalent',
      why: 'how the loop begins and ends: a read into a buffer that is full gives nothing, which ends it too',
    },
    {count: 1, kind: 'equivalent', why: 'sizes that are equal, of which it was said before that they are'},
  ],
  'src/bundle/files/scan.ts': [
    {
      count: 3,
      kind: 'resources',
      why: 'a list of all paths to find doubles that cannot be, and links that are looked for where there are none',
    },
  ],
  'src/bundle/config/settings.ts': [
    {count: 2, kind: 'unreachable', why: 'metadata that is missing where it was just found: only the types need it'},
  ],
  'src/files/stage-file.ts': [
    {
      count: 1,
      kind: 'unreachable',
      why: 'a file that cannot be made in a folder that was just made, before anybody listens',
    },
  ],
  'src/bundle/archive/stream-bundle.ts': [
    {count: 1, kind: 'resources', why: 'a digest that is known is found once more'},
    {count: 1, kind: 'resources', why: 'files that are closed a moment later'},
  ],
  'src/bundle/archive/tar-entries.ts': [
    {count: 1, kind: 'unreachable', why: 'a v1 bundle without a project, which planning refuses'},
    {count: 1, kind: 'equivalent', why: 'a file in the place of the configuration, which planning takes away'},
  ],
  'src/bundle/archive/tar-size.ts': [
    {count: 2, kind: 'unreachable', why: 'an entry of given content, which no v1 archive has'},
    {count: 4, kind: 'resources', why: 'the library, asked for what is known: it says the same'},
    {count: 1, kind: 'equivalent', why: 'the kind of an entry, whose header has the same length'},
  ],
  'src/files/temporary-directory.ts': [
    {
      count: 2,
      kind: 'equivalent',
      why: 'a name in a folder that cannot be read, and no number in one: neither is of a dead process',
    },
    {count: 2, kind: 'unreachable', why: 'a folder that vanishes while it is looked at or removed'},
    {count: 1, kind: 'unreachable', why: 'a system without owners of files'},
  ],
  'src/bundle/archive/write-bundle.ts': [
    {count: 1, kind: 'resources', why: 'blocks that are used again'},
    {count: 1, kind: 'unreachable', why: 'an old manifest that cannot be removed where a new one could just be made'},
  ],
  'src/bundle/archive/write-tar.ts': [
    {count: 5, kind: 'unreachable', why: 'what the library warns of or leaves out: it is given nothing that it would'},
    {count: 4, kind: 'resources', why: 'which files are read whole, and how the others are cut'},
    {count: 1, kind: 'equivalent', why: 'nothing instead of no for an entry that is not executable'},
  ],
  'src/http/rate-limit/hooks.ts': [
    {count: 1, kind: 'unreachable', why: 'The types allow got to have no list of statuses; it always has one.'},
    {
      count: 1,
      kind: 'equivalent',
      why: 'When a wait is aborted, got does not send the request again, though it is asked to.',
    },
  ],
  'src/http/rate-limit/middleware.ts': [
    {count: 1, kind: 'resources', why: 'A copy of a request without a body, which is not needed to send it again.'},
  ],
  'src/http/rate-limit/retry-after.ts': [
    {count: 1, kind: 'equivalent', why: 'Any other text in the place of a missing header is no date either.'},
    {count: 1, kind: 'equivalent', why: '`Date.parse` takes a second `GMT` for none.'},
  ],
  'src/http/rate-limit/wait-to-retry.ts': [
    {count: 1, kind: 'equivalent', why: 'The list of statuses does not hold `undefined`; asking is for the types.'},
  ],
};
