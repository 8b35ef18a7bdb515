// The baseline that paging replaced: the mixed-step scheduler, first come first served, over one contiguous region a
// request (memory/buddy_allocator.hpp). A region is taken at admission for prompt and reserved output and kept to the
// end, so that nothing is preempted, nothing is shared and memory runs out by what is reserved, not by what is used.
//
// Source: the Orca baselines of Kwon et al. 2023 (PagedAttention), which assume a buddy allocator. One step costs
// O(batch). Steps are synchronous.
#pragma once

#include "cost/step_cost.hpp"
#include "engine/config.hpp"
#include "engine/replica.hpp"

#include <memory>

namespace servecast::engine {

// Slots that a request of that prompt and true output reserves; the region is its next power of two.
std::int64_t reserved_slots(KvAllocation allocation, std::int32_t prompt, std::int32_t output,
                            std::int32_t max_model_len);

// Requires: a contiguous allocation, mixed steps, no prefix caching, no asynchronous scheduling, and a pool whose
// largest region holds max_model_len.
std::unique_ptr<Replica> make_contiguous_loop(const Config& config, const cost::StepCost& cost, Observer& observer);

}  // namespace servecast::engine
