/**
 * The version of the analysis that makes terms of texts. It changes whenever a text gets other terms than before, because
 * the terms of queries are compared with the terms that chunks keep. Data of another version has to be reindexed.
 */
export const ANALYSIS_VERSION = '2';
