/**
 * Waits for a reply; null when the server lacks the command or forbids it. Managed servers
 * forbid some of the commands that tell about themselves.
 */
export async function unlessRefused<Reply>(reply: Promise<Reply>): Promise<Reply | null> {
  try {
    return await reply;
  } catch (error) {
    if (error instanceof Error && /NOPERM|unknown command|not allowed/i.test(error.message)) return null;
    throw error;
  }
}
