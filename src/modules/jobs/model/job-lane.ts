/** Short jobs and long ones have workers of their own. */
export const JOB_LANES = ['short', 'long'] as const;
export type JobLane = (typeof JOB_LANES)[number];
