// Linux interfaces that Swift's Glibc module leaves out, and the two calls whose C form Swift cannot express.
#pragma once

#include <errno.h>
#include <linux/filter.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/// Monotonic nanoseconds; the clock of every timer.
static inline uint64_t clinux_monotonic_nanoseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

/// The kernel's id of the calling thread. `pthread_self` is declared `const`, so a compiler may reuse its value across a suspension
/// that changes threads.
static inline int32_t clinux_thread_id(void) { return (int32_t)gettid(); }

// libc's functions for these two are cancellation points, which cost two atomic operations per call. This process cancels no
// threads.

/// `recv` on a connected socket.
static inline long clinux_receive(int descriptor, void *buffer, unsigned long size, int flags) {
  return syscall(SYS_recvfrom, descriptor, buffer, size, flags, (void *)0, (void *)0);
}

/// `send` on a connected socket, without SIGPIPE.
static inline long clinux_send(int descriptor, const void *bytes, unsigned long size) {
  return syscall(SYS_sendto, descriptor, bytes, size, MSG_NOSIGNAL, (void *)0, 0);
}

/// `SIG_IGN` is a cast macro, invisible to Swift.
static inline void clinux_ignore_sigpipe(void) { signal(SIGPIPE, SIG_IGN); }

/// `epoll_wait` with a timeout in nanoseconds; a negative timeout has no limit. Kernels before 5.11 count in milliseconds. The
/// timeout is then rounded up, so that the caller does not poll in a loop for the rest.
static inline int clinux_epoll_wait(int epoll, struct epoll_event *events, int events_max, int64_t nanoseconds) {
  struct timespec timeout = {nanoseconds / 1000000000, nanoseconds % 1000000000};
  int count = epoll_pwait2(epoll, events, events_max, nanoseconds < 0 ? (struct timespec *)0 : &timeout, (sigset_t *)0);
  if (count >= 0 || errno != ENOSYS) return count;
  int64_t milliseconds = (nanoseconds + 999999) / 1000000;
  return epoll_wait(epoll, events, events_max, nanoseconds < 0 ? -1 : milliseconds > INT32_MAX ? INT32_MAX : (int)milliseconds);
}

/// `epoll_event.data` is a union inside a packed struct. Only its 64-bit member is used.
static inline int clinux_epoll_ctl(int epoll, int operation, int descriptor, uint32_t events, uint64_t data) {
  struct epoll_event event;
  event.events = events;
  event.data.u64 = data;
  return epoll_ctl(epoll, operation, descriptor, &event);
}

extern int accept4(int listener, struct sockaddr *peer, socklen_t *length, int flags);

/// `accept4` is a GNU extension whose declaration is hidden without `_GNU_SOURCE`.
static inline int clinux_accept(int listener, struct sockaddr_storage *peer) {
  socklen_t length = sizeof(*peer);
  return accept4(listener, (struct sockaddr *)peer, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

static inline uint32_t clinux_epoll_events(const struct epoll_event *events, int index) { return events[index].events; }
static inline uint64_t clinux_epoll_data(const struct epoll_event *events, int index) { return events[index].data.u64; }

/// A GNU extension that the importer hides without `_GNU_SOURCE`. Keeps at most 15 bytes of the name.
extern int pthread_setname_np(pthread_t thread, const char *name);
static inline void clinux_name_current_thread(const char *name) { pthread_setname_np(pthread_self(), name); }
