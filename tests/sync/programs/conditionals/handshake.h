/* SPDX-License-Identifier: MIT */
/* The order of both threads, in code that is not instrumented. */
void handshake_waiter(void); /* the other thread exists */
void handshake_held(void);   /* a lock is held: returns when the other thread waits for it */
void handshake_done(void);   /* it was released: returns when the other thread had it */
void handshake_come(void);   /* returns when the other thread holds the lock */
void handshake_went(void);
