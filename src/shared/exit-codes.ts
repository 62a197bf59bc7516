/** Starting again would end the same way: the settings, the port or the data must change first. */
export const EXIT_WRONG_SETTINGS = 78;
/** Somebody reindexed the data: start again, with the settings that fit it now. */
export const EXIT_DATA_CHANGED = 75;
