/* A small runtime: values go around in a ring. */
#ifndef RING_H
#define RING_H
#ifdef __cplusplus
extern "C" {
#endif

/* Ends the process where it cannot start. */
void ring_start(int* argc, char*** argv);
unsigned ring_rank(void);
unsigned ring_size(void);
/* 1 in libraries for who debugs programs. */
int ring_checked(void);
/* The norm of what all ranks hand in. Collective. */
double ring_norm(double mine);
void ring_end(int status);

#ifdef __cplusplus
}
#endif
#endif
