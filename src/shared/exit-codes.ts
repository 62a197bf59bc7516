/** Starting again would end the same way: the settings, the port or the data must change first. */
export const EXIT_WRONG_SETTINGS = 78;
