/** Another start would end the same way: the settings, the port or the data must change first. */
export const EXIT_WRONG_SETTINGS = 78;
/** The data was reindexed: the process must start again, with settings that fit the data now. */
export const EXIT_DATA_CHANGED = 75;
