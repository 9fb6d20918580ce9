/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * TCP between two programs of this host: finds the thread that sent the packet by which the kernel
 * wakes another one.
 *
 * The kernel delivers packets in a software interrupt. A packet that does not leave the host is
 * queued with these interrupts disabled, and delivered in the next one, in the middle of the system
 * call that sent it. But any other packet may arrive in that interrupt, too. So a wake-up is the
 * work of the thread on the CPU only if the interrupt is the first one since that thread sent a
 * packet, and the packet that it delivers is for the peer of the sending socket, by the addresses
 * and ports of both.
 *
 * This holds for what established connections receive: data, room for data, and the end of the
 * data. New connections are not recognized. Without these tracepoints, or if the kernel refuses the
 * programs, all such wake-ups are recorded as those of interrupts.
 */
#ifndef PP_RECORD_BPF_SENDERS_BPF_H
#define PP_RECORD_BPF_SENDERS_BPF_H

#define AF_INET	       2
#define NET_RX_SOFTIRQ 3

struct net;

struct net_of_socket {
	const struct net *net;
} KERNEL;

struct in6_addr {
} KERNEL;

struct sock_common {
	uint32_t skc_daddr, skc_rcv_saddr;
	uint16_t skc_dport; /* in network byte order */
	uint16_t skc_num;
	uint16_t skc_family;
	struct net_of_socket skc_net;
	struct in6_addr skc_v6_daddr, skc_v6_rcv_saddr;
} KERNEL;

struct sock {
	struct sock_common __sk_common;
} KERNEL;

struct sk_buff {
	const struct sock *sk;
} KERNEL;

/* One end of a connection. */
struct end {
	uint64_t address[2]; /* of IPv6; those of IPv4 are mapped: ::ffff:127.0.0.1 */
	uint64_t port;
};

/* The last packet that was sent on a CPU, until the next interrupt that receives is over. */
struct sender {
	const struct net *net;
	struct end own, peer;
	uint32_t tid;	   /* 0: none, or a thread of another program */
	uint32_t delivers; /* a packet for the peer is being delivered */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(key_size, sizeof(uint32_t));
	__uint(value_size, sizeof(struct sender));
	__uint(max_entries, 1);
} gprof_mt_sender SEC(".maps");

INLINE struct sender *this_sender(void)
{
	uint32_t first = 0;

	return bpf_map_lookup_elem(&gprof_mt_sender, &first);
}

INLINE void set_mapped(struct end *end, uint32_t ipv4)
{
	end->address[0] = 0;
	end->address[1] = (uint64_t)ipv4 << 32 | 0xffff0000u;
}

INLINE void get_ends(const struct sock *sock, struct end *own, struct end *peer)
{
	const struct sock_common *common = &sock->__sk_common;

	own->port = common->skc_num;
	peer->port = __builtin_bswap16(common->skc_dport);
	if (common->skc_family == AF_INET) {
		set_mapped(own, common->skc_rcv_saddr);
		set_mapped(peer, common->skc_daddr);
		return;
	}
	bpf_probe_read_kernel(own->address, sizeof(own->address),
			      __builtin_preserve_access_index(&common->skc_v6_rcv_saddr));
	bpf_probe_read_kernel(peer->address, sizeof(peer->address),
			      __builtin_preserve_access_index(&common->skc_v6_daddr));
}

INLINE bool are_equal(const struct end *a, const struct end *b)
{
	return a->port == b->port && a->address[0] == b->address[0] &&
	       a->address[1] == b->address[1];
}

INLINE bool is_in_interrupt(uint32_t count)
{
	return count & (PP_BPF_SOFTIRQ | PP_BPF_HARDIRQ);
}

/* net_dev_queue(packet) */
SEC("tp_btf/net_dev_queue") int gprof_mt_sends(uint64_t *context)
{
	const struct sk_buff *packet = (const void *)context[0];
	const struct task_struct *running = this_thread();
	const struct sock *sock = packet->sk;
	struct sender *sender = this_sender();

	if (!sender || !sock || is_in_interrupt(preempt_count(running)))
		return 0;
	sender->tid = is_ours((uint32_t)running->pid) ? (uint32_t)running->pid : 0;
	sender->delivers = 0;
	if (!sender->tid)
		return 0;
	sender->net = sock->__sk_common.skc_net.net;
	get_ends(sock, &sender->own, &sender->peer);
	return 0;
}

/* tcp_probe(socket, packet): the established connection receives the packet. */
SEC("tp_btf/tcp_probe") int gprof_mt_receives(uint64_t *context)
{
	const struct sock *sock = (const void *)context[0];
	struct sender *sender = this_sender();
	struct end own = {0}, peer = {0};

	if (!sender || !sender->tid || sender->net != sock->__sk_common.skc_net.net)
		return 0;
	get_ends(sock, &own, &peer);
	sender->delivers = are_equal(&own, &sender->peer) && are_equal(&peer, &sender->own);
	return 0;
}

/* netif_receive_skb(packet): the next packet */
SEC("tp_btf/netif_receive_skb") int gprof_mt_arrives(uint64_t *context)
{
	struct sender *sender = this_sender();

	(void)context;
	if (sender)
		sender->delivers = 0;
	return 0;
}

/* softirq_exit(number): packets are received by one of several such interrupts. */
SEC("tp_btf/softirq_exit") int gprof_mt_softirq(uint64_t *context)
{
	struct sender *sender = this_sender();

	if (!sender)
		return 0;
	sender->delivers = 0;
	if ((uint32_t)context[0] == NET_RX_SOFTIRQ)
		sender->tid = 0;
	return 0;
}

/* True if the software interrupt delivers a packet that the running thread has sent. */
INLINE bool is_sending(const struct task_struct *running)
{
	const struct sender *sender = this_sender();

	return sender && sender->delivers && sender->tid == (uint32_t)running->pid;
}

#endif
